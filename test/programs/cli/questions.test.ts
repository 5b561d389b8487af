import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sharedQuestionApp } from '../../approvals/requests/question-app.ts'
import { callSvc } from './call-svc.ts'
import { runSvc } from './run-svc.ts'

const input = JSON.stringify({ question: 'Why?', to: 'team' })

describe('questions on the command line', () => {
  const app = sharedQuestionApp('sqlite')
  const svc = (args: string[], stdin: string | null = '') => callSvc(args, { url: app().url, stdin })

  test('run shows the question and sends the answer', async () => {
    const { code, stdout, stderr } = await svc(['run', 'ask', 'text', '--input', input], 'because\n')
    expect(stderr).toContain('question to the team (expires')
    expect(stderr).toContain('Why?')
    expect(stdout).toMatch(/\? question apr_\w+ to the team: Why\?/)
    expect(stdout).toContain('✓ question answered')
    expect(stdout).toContain('"answer": "because"')
    expect(code).toBe(0)
  })

  test('run accepts the number of an option, and asks again for another text', async () => {
    const { code, stdout, stderr } = await svc(['run', 'ask', 'choice'], 'medium\n2\n')
    expect(stderr).toContain('  2  large')
    expect(stderr).toContain("field 'edited.answer' must be one of")
    expect(stdout).toContain('"answer": "large"')
    expect(code).toBe(0)
  })

  test('run asks for the fields of a form', async () => {
    const { code, stdout, stderr } = await svc(['run', 'ask', 'form'], 'Bern\nthree\n\nBern\n3\ntrue\n')
    expect(stderr).toContain('floor (optional): ')
    expect(stderr).toContain('$.floor must be integer')
    expect(JSON.parse(stdout.slice(stdout.indexOf('\n{')))).toMatchObject({
      got: { answer: { city: 'Bern', floor: 3, lift: true } },
    })
    expect(code).toBe(0)
  })

  test('an empty answer declines after a confirmation, and the task continues', async () => {
    const { code, stdout } = await svc(['run', 'ask', 'text', '--input', input], '\nn\n\ny\n')
    expect(stdout).toContain('question not answered')
    expect(stdout).toContain('"answered": false')
    expect(code).toBe(0)
  })

  test('without an answer on stdin a question is listed and answered with another command', async () => {
    const running = svc(['run', 'ask', 'choice'])
    const waiting = async () => (await svc(['approvals', '--json'])).lines[0]
    let question = await waiting()
    while (!question) question = await waiting()
    const id: string = question.approval_id
    expect((await svc(['approvals'])).stdout).toMatch(/question to the team +- +low .*Which size\?/)
    expect(await svc(['approvals', 'approve', id])).toMatchObject({ code: 1 })
    const wrong = await svc(['approvals', 'answer', id, 'medium'])
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('must be one of') })
    expect(await svc(['approvals', 'answer', id, 'small'])).toMatchObject({ code: 0, stdout: `${id} answered\n` })
    expect(await svc(['approvals', 'answer', id, 'small'])).toMatchObject({ code: 1 })
    const { stdout, stderr } = await running
    expect(stderr).toContain(`approvals answer ${id}`)
    expect(stdout).toContain('"answer": "small"')
  })

  test('answer asks for the answer, and edit refuses a question', async () => {
    const { id } = await app().createTask({ wedge: 'ask', task_type: 'choice' })
    const waiting = async () => (await svc(['approvals', '--task', id, '--json'])).lines[0]
    let question = await waiting()
    while (!question) question = await waiting()
    const edit = ['approvals', 'edit', question.approval_id]
    const edited = await callSvc(edit, { url: app().url, env: { EDITOR: 'true' } })
    expect(edited).toMatchObject({ code: 1, stderr: expect.stringContaining('this is a question') })
    const answered = await svc(['approvals', 'answer', question.approval_id], '1\n')
    expect(answered).toMatchObject({ code: 0, stdout: expect.stringContaining('answered') })
    expect(await app().finished(id)).toMatchObject({ output: { got: { answer: 'small' } } })
    const again = await svc(['approvals', 'answer', question.approval_id])
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('question already decided (approved)') })
  })

  test('a text as the answer to a form is refused with the fields of the form', async () => {
    const { id } = await app().createTask({ wedge: 'ask', task_type: 'form' })
    const waiting = async () => (await svc(['approvals', '--task', id, '--json'])).lines[0]
    let question = await waiting()
    while (!question) question = await waiting()
    const answer = ['approvals', 'answer', question.approval_id]
    const text = await svc([...answer, 'Bern'])
    expect(text).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('a JSON object with the fields city, floor'),
    })
    expect(await svc([...answer, '{"city": "Bern"}'])).toMatchObject({ code: 0 })
  })

  test('a rehearsal gives no answer and continues', async () => {
    const env = { SVC_WEDGES_DIR: join(app().dir, 'wedges'), SVC_SANDBOX: 'process' }
    const { code, stdout } = await runSvc(['wedge', 'rehearse', 'ask', 'choice'], { env })
    expect(stdout).toContain('"answered":false')
    expect(code).toBe(0)
  })
})
