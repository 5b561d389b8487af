import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ECHO_WEDGE, sharedApp, testApp } from '../app.ts'
import { scriptedAgentFolder, loggedLines, runScript } from './scripted-agent.ts'

const app = sharedApp({
  store: 'sqlite',
  wedges: {
    ...ECHO_WEDGE,
    'echo/skills/manners.md': 'Be kind.',
    'echo/knowledge/facts.md': 'The sky is blue.',
  },
  env: { SVC_SANDBOX: 'bwrap', SVC_POOL: '2', SVC_TASK_RATE_PER_MIN: '10000', ...scriptedAgentFolder() },
})

describe('an agent of any language', () => {
  test('reads one brief, writes events, files and an output, and its log tells it in order', async () => {
    const { task, events, types } = await runScript(
      app(),
      `const fs = require('node:fs')
       say({ event: 'step.started', data: { step: 1, label: 'Look' } })
       say({ event: 'tool.called', data: { call_id: 'c1', tool: 'look', input: { at: 'sky' }, secret: 'not in the table' } })
       say({ event: 'tool.result', data: { call_id: 'c1', tool: 'look', ok: true, output: 'blue' } })
       say({ event: 'token.delta', data: { text: 'It is ' } })
       say({ artifact: { name: 'note.txt', content_type: 'text/plain', content_base64: Buffer.from('hi').toString('base64') } })
       fs.mkdirSync(process.env.HOME + '/out/sub', { recursive: true })
       fs.writeFileSync(process.env.HOME + '/out/sub/table.csv', 'a,b')
       const { service, task, ...told } = brief
       say({ output: { told, task: Object.keys(task), cwd: process.cwd(), env: Object.keys(process.env).sort() } })`,
    )
    expect(types).toEqual([
      'task.created',
      'step.started',
      'tool.called',
      'tool.result',
      'token.delta',
      'output.validated',
      'artifact.created',
      'artifact.created',
      'artifact.created',
      'task.finished',
    ])
    expect(events[0]?.data.data).toMatchObject({ sandbox: 'bwrap', wedge: 'echo', task_type: 'say' })
    expect(events[2]?.data.data).toEqual({ call_id: 'c1', tool: 'look', input: { at: 'sky' } })
    expect(task).toMatchObject({ status: 'succeeded', error: null })
    expect(task.output).toMatchObject({
      cwd: '/custom',
      told: {
        v: 1,
        skills: [{ name: 'manners', content: 'Be kind.' }],
        knowledge: [{ name: 'facts.md', content: 'The sky is blue.' }],
        shape: 'agent',
        steps: 20,
      },
      task: ['id', 'wedge', 'task_type', 'input', 'constraints'],
    })
    expect(task.output.env.filter((name: string) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name))).toEqual([
      'HOME',
      'LANG',
      'PATH',
      'TZ',
    ])
    expect(task.artifacts.map(({ name }: { name: string }) => name)).toEqual([
      'output.json',
      'note.txt',
      'sub/table.csv',
    ])
    const file = await app().call('GET', `/v1/artifacts/${task.artifacts[2].id}`)
    expect([file.body, file.headers.get('content-type')]).toEqual(['a,b', 'text/csv; charset=utf-8'])
  })

  test('may be python', async () => {
    const python = `import json, sys
brief = json.loads(sys.stdin.readline())
print(json.dumps({"event": "progress", "data": {"text": "python reads " + brief["task"]["wedge"]}}))
print(json.dumps({"output": {"steps": brief["steps"]}}))`
    const { task, types } = await runScript(app(), '', { input: { python } })
    expect(task).toMatchObject({ status: 'succeeded', output: { steps: 20 } })
    expect(types).toContain('progress')
  })

  test('may be a shell script', async () => {
    const sh = `read brief; echo '{"event":"progress","data":{"text":"here"}}'; echo '{"output":{"from":"sh"}}'`
    const { task } = await runScript(app(), '', { input: { sh } })
    expect(task).toMatchObject({ status: 'succeeded', output: { from: 'sh' } })
  })
})

describe('an agent that fails', () => {
  test.each([
    ['says so', `say({ error: 'the sky fell' })`, 'the sky fell'],
    ['crashes', `require('node:fs').writeSync(2, 'boom\\n'); process.exit(7)`, '(exit code 7): boom'],
    ['is killed', `process.kill(process.pid, 'SIGKILL')`, 'SIGKILL'],
    ['ends without a word', `return`, 'without an output'],
    ['ends in an error that is no sentence', `say({ error: 5 })`, 'without an output'],
    [
      'kills the process that looks after it',
      `process.kill(1, 'SIGKILL'); process.kill(process.ppid, 'SIGKILL'); process.exit(3)`,
      'without an output',
    ],
  ])('%s: its own task fails as agent_failed', async (_, js, message) => {
    const { task, types } = await runScript(app(), js)
    expect(task).toMatchObject({ status: 'failed', output: null, error: { reason: 'agent_failed' } })
    expect(task.error.message).toContain(message)
    expect(types).toEqual(['task.created', 'task.finished'])
  })

  test('with an output of more than 1 MiB fails as output_invalid, and is told to deliver a file', async () => {
    const { task, events, types } = await runScript(app(), `say({ output: 'x'.repeat(1024 * 1024 - 1) })`)
    const message = 'the output is larger than 1 MiB: deliver it as a file'
    expect(task).toMatchObject({ status: 'failed', output: null, error: { reason: 'output_invalid', message } })
    expect(types).toEqual(['task.created', 'output.validated', 'task.finished'])
    const errors = [{ path: '$', message: 'is larger than 1 MiB: deliver it as a file' }]
    expect(events[1]?.data.data).toEqual({ ok: false, errors })
    const { task: just } = await runScript(app(), `say({ output: 'x'.repeat(1024 * 1024 - 2) })`)
    expect(just).toMatchObject({ status: 'succeeded', artifacts: [{ name: 'output.json', size: 1024 * 1024 }] })
  })

  test('what it wrote before the crash stays in the log', async () => {
    const { types } = await runScript(app(), `say({ event: 'progress', data: { text: 'so far' } }); process.exit(1)`)
    expect(types).toEqual(['task.created', 'progress', 'task.finished'])
  })
})

test('an agent reports at most fifty gaps in one task', async () => {
  const { task } = await runScript(
    app(),
    `const answers = []
     for (let n = 0; n < 52; n++) answers.push(await ask('POST', '/v1/internal/knowledge/gap', { question: 'What is ' + n + '?' }))
     say({ output: { statuses: answers.map(({ status }) => status), last: answers[51].body } })`,
  )
  expect(task.output.statuses).toEqual([...Array(50).fill(200), 429, 429])
  expect(task.output.last).toEqual({ error: 'more than 50 gaps in one task' })
})

describe('an agent that lies', () => {
  test('cannot forge approvals, costs or the end of its task', async () => {
    const { task, types } = await runScript(
      app(),
      `for (const event of ['approval.requested', 'approval.resolved', 'cost.charged', 'output.validated', 'artifact.created',
         'feedback.recorded', 'task.created', 'task.finished', 'made.up', 7, null]) say({ event, data: { status: 'succeeded' } })
       say({ event: 'progress' })
       say({ event: 'progress', data: 'no object' })
       say({ nothing: true })
       say({ output: 'done' })`,
    )
    expect(types).toEqual(['task.created', 'output.validated', 'artifact.created', 'task.finished'])
    expect(task).toMatchObject({ status: 'succeeded', cost_usd: 0 })
    const refused = loggedLines(app(), 'agent line refused').filter((line) => line.task === task.id)
    expect(refused).toHaveLength(14)
  })

  test('asks over its socket: a question among its lines is refused, and nothing comes of it', async () => {
    const { task } = await runScript(
      app(),
      `const { task_token: token } = brief.service
       say({ ask: 1, token, method: 'POST', path: '/v1/internal/records/notes/by-line', body: { value: 1 } })
       const { status } = await ask('GET', '/v1/internal/records/notes/by-line', undefined, token)
       say({ output: status })`,
    )
    expect(task.output).toBe(404)
    const refused = loggedLines(app(), 'agent line refused').filter((line) => line.task === task.id)
    expect(refused).toMatchObject([{ why: 'a custom agent must send requests over its socket' }])
  })

  test('cannot speak for another run, nor twice, nor after its output', async () => {
    const { task, types } = await runScript(
      app(),
      `say({ run: 'task_another', event: 'progress', data: { text: 'mine after all' } })
       say('not json'); say('[1,2]'); say('"text"'); say('{"broken":')
       say({ output: 'first' })
       say({ output: 'second' })
       say({ event: 'progress', data: { text: 'too late' } })
       say({ error: 'and no' })`,
    )
    expect(task).toMatchObject({ status: 'succeeded', output: 'first' })
    expect(types).toEqual(['task.created', 'progress', 'output.validated', 'artifact.created', 'task.finished'])
  })

  test('cannot write past its keeper either', async () => {
    const { task, types } = await runScript(
      app(),
      `const out = require('node:fs').openSync('/proc/' + process.ppid + '/fd/1', 'w')
       const past = (line) => require('node:fs').writeSync(out, JSON.stringify(line) + '\\n')
       past({ ready: true })
       past({ run: 'task_another', output: 'theirs' })
       past({ run: brief.task.id, event: 'task.finished', data: { status: 'succeeded' } })
       past({ run: brief.task.id, event: 'cost.charged', data: { cost_usd: -5 } })
       say({ error: 'so I give up' })`,
    )
    expect(types).toEqual(['task.created', 'task.finished'])
    expect(task).toMatchObject({ status: 'failed', cost_usd: 0 })
  })

  test('gets its strings cut and its odd fields dropped', async () => {
    const { events } = await runScript(
      app(),
      `say({ event: 'tool.called', data: { call_id: 1, tool: 'x', input: { long: 'a'.repeat(5000) } } })
       say({ event: 'progress', data: { text: 'nul \\u0000 and half \\ud800 pair' } })
       say({ event: 'tool.result', data: { tool: 'x', ok: 'yes', output: 1, error: 'no' } })
       say({ output: null })`,
    )
    const [called, progress, result] = events.slice(1).map(({ data }) => data.data)
    expect(called).toMatchObject({ call_id: '', truncated: true })
    expect(called.input.long).toHaveLength(4096)
    expect(progress.text).toContain('nul')
    expect(result).toEqual({ call_id: '', tool: 'x', ok: false, error: 'no' })
  })

  test('cannot break the service with depth', async () => {
    const { task } = await runScript(
      app(),
      `const deep = (n) => '['.repeat(n) + ']'.repeat(n)
       for (const n of [70, 3000, 6000]) say('{"event":"tool.called","data":{"call_id":"c","tool":"t","input":' + deep(n) + '}}')
       say('{"output":' + deep(3000) + '}')`,
    )
    expect(task).toMatchObject({ status: 'failed', error: { reason: 'agent_failed' } })
    expect((await app().call('GET', '/v1/tasks')).status).toBe(200)
  })
})

test('an agent whose folder has gone since the start fails its task as sandbox_failed', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-agent-'))
  const env = { SVC_SANDBOX: 'bwrap', SVC_POOL: '0', SVC_AGENT_COMMAND: 'true', SVC_AGENT_DIR: dir }
  const app = await testApp({ store: 'sqlite', env })
  rmSync(dir, { recursive: true })
  const { task, types } = await runScript(app, '')
  expect(task).toMatchObject({ status: 'failed', error: { reason: 'sandbox_failed' } })
  expect(types).toEqual(['task.created', 'task.finished'])
})
