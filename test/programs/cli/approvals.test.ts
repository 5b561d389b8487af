import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addMember, signUpOwner } from '../../identity/accounts/members.ts'
import {
  gatedWedgeFiles,
  requestedApprovalId,
  sharedGatedApp,
  startAction,
} from '../../approvals/decisions/gated-app.ts'
import { createAndGetId, sendInbound } from '../../customers/channels/channel-app.ts'
import { callSvc } from './call-svc.ts'
import { runOnTerminal, spawnShell } from './run-svc.ts'

const WEDGES = {
  ...gatedWedgeFiles('gate', { approvals: [{ action: 'pay', needed: 2 }], task_types: { act: {}, answer: {} } }),
  'gate/rehearsals/answer.json': [
    { say: 'I write a note.', call: { tool: 'act', input: { connection: 'crm', capability: 'note', payload: {} } } },
    { output: '{{last}}' },
  ],
}

describe('svc approvals', () => {
  const app = sharedGatedApp('sqlite', { wedges: WEDGES })
  let member: string

  beforeAll(async () => {
    member = (await addMember(app(), await signUpOwner(app()), 'operator')).id
  })

  const svc = (...args: string[]) => callSvc(args, { url: app().url })
  const pending = async (action: string) => requestedApprovalId(app(), (await startAction(app(), { action })).id)
  const reject = (id: string) => app().call('POST', `/v1/approvals/${id}/reject`)

  test('show prints the customer message, what the agent did, the rule and the comments', async () => {
    const { body } = await app().call('GET', '/v1/connections')
    const mail = body.data.find(({ name }: { name: string }) => name === 'mail')
    const binding = { connection_id: mail.id, address: 'help@desk.example', wedge: 'gate', task_type: 'answer' }
    const channel = await createAndGetId(app(), '/v1/channels', binding)
    const written = await sendInbound({ ...app(), channel }, 'ada@example.com', { body: 'Where is\u001b[2J my order?' })
    const id = await requestedApprovalId(app(), written.task_id)
    expect((await svc('approvals', 'comment', id, 'Please check.')).stdout).toBe(`${id} commented\n`)
    const { code, stdout } = await svc('approvals', 'show', id)
    expect(code).toBe(0)
    expect(stdout).toContain(`${id} pending`)
    expect(stdout).toContain('Ada wrote: Where is�[2J my order?')
    expect(stdout).toContain('agent: I write a note.')
    expect(stdout).toContain('why: No auto-approve rule covers note.')
    expect(stdout).toContain('note through crm (risk high')
    expect(stdout).toContain(': Please check.')
    expect((await svc('approvals')).stdout).toMatch(new RegExp(`^${id} .* Ada `, 'm'))
    const json = await svc('approvals', 'show', id, '--json')
    expect(json.lines).toMatchObject([{ approval_id: id, comments: [{ body: 'Please check.' }] }])
    await reject(id)
  })

  test('assign, vote and revise say what they did', async () => {
    const id = await pending('pay')
    const assigned = await svc('approvals', 'assign', id, member)
    expect(assigned.stdout).toBe(`${id} assigned to operator-two@example.com\n`)
    const byMail = await svc('approvals', 'assign', id, 'operator-two@example.com')
    expect(byMail.stdout).toBe(assigned.stdout)
    expect((await svc('approvals', 'assign', id, 'none')).stdout).toBe(`${id} unassigned\n`)
    expect((await svc('approvals', 'assign', id, 'mem_unknown')).code).not.toBe(0)
    expect((await svc('approvals', 'approve', id)).stdout).toMatch(new RegExp(`^${id} 1 of 2 approved: .+\n$`))
    expect((await svc('approvals', 'show', id)).stdout).toContain('1 of 2 approved: ')
    expect((await svc('approvals', 'revise', id, 'Less.')).stdout).toBe(`${id} sent back\n`)
    const shown = (await svc('approvals', 'show', id)).stdout
    expect(shown).toMatch(new RegExp(`^${id} sent back by .+: Less\\.`))
    expect(shown).not.toContain('will send')
  })

  test('watch prints a line for each approval that is pending, requested or decided', async () => {
    const before = await pending('send_note')
    const child = spawnShell('exec "$0" "$1" approvals watch', app().url)
    afterAll(() => void child.kill())
    let shown = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text))
    await expect.poll(() => shown).toContain(`${before} pending: send_note (risk high)\n`)
    const later = await pending('send_note')
    await expect.poll(() => shown).toContain(`${later} pending: send_note (risk high)\n`)
    await reject(later)
    await expect.poll(() => shown).toMatch(new RegExp(`^${later} rejected by .+: send_note`, 'm'))
    await reject(before)
    child.kill()
  })

  test('watch on a terminal shows each request as a card and takes the decision', async () => {
    const first = await pending('send_note')
    const second = await pending('send_note')
    const dialogue = [
      '[r]eject? ',
      'v\r',
      'note to the agent: ',
      'Kinder.\r',
      '[r]eject? ',
      'a\r',
      'approved',
      '\u0003',
    ]
    const { shown } = await runOnTerminal(['approvals', 'watch'], dialogue, { url: app().url })
    expect(shown).toContain('"text": "hello"')
    const decided = await Promise.all(
      [first, second].map(async (id) => (await app().call('GET', `/v1/approvals/${id}`)).body),
    )
    expect(new Set(decided.map(({ status }) => status))).toEqual(new Set(['approved', 'rejected']))
    expect(decided.find(({ status }) => status === 'rejected')).toMatchObject({ revise: true, reason: 'Kinder.' })
  })
})
