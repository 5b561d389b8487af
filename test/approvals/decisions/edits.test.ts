import { expect, test } from 'vitest'
import { anyStore } from '../../app.ts'
import { scriptedAgentFolder } from '../../execution/runs/scripted-agent.ts'
import { requestedApprovalId, sharedGatedApp } from './gated-app.ts'

const agents = scriptedAgentFolder()
const EDIT = { edited: { text: 'hi' } }

anyStore((store) => {
  const shared = sharedGatedApp(store, { env: agents })

  /** The approval of an action with this payload. A custom agent can send payloads that the bundled agent cannot. */
  async function requestApproval(payload: unknown): Promise<string> {
    const body = JSON.stringify({ connection: 'crm', payload })
    const js = `say({ output: (await ask('POST', '/v1/internal/actions/send_note', ${body})).body })`
    const task = await shared().createTask({ wedge: 'gate', task_type: 'act', input: { js } })
    return requestedApprovalId(shared(), task.id)
  }

  test.each([[{ text: 'hello' }], [{}]])('an edit of the payload %j is offered and accepted', async (payload) => {
    const path = `/v1/approvals/${await requestApproval(payload)}`
    expect((await shared().call('GET', path)).body.allowed_decisions).toEqual(['approve', 'edit', 'reject', 'revise'])
    expect(await shared().call('POST', `${path}/approve`, EDIT)).toMatchObject({ status: 200 })
  })

  test.each([['hello'], [['hello']]])(
    'an edit of the payload %j is refused, because it has no fields',
    async (payload) => {
      const path = `/v1/approvals/${await requestApproval(payload)}`
      expect((await shared().call('GET', path)).body.allowed_decisions).toEqual(['approve', 'reject', 'revise'])
      const refused = { status: 400, body: { error: "field 'edited' needs a payload that is an object" } }
      expect(await shared().call('POST', `${path}/approve`, EDIT)).toMatchObject(refused)
      expect((await shared().call('GET', path)).body.status).toBe('pending')
      expect(await shared().call('POST', `${path}/approve`)).toMatchObject({ status: 200 })
    },
  )

  test('an edit with an invisible character in a name is refused', async () => {
    const path = `/v1/approvals/${await requestApproval({ text: 'hello' })}`
    const edited = { lines: [{ 'amo\u200bunt': 1_000_000 }] }
    const error = "field 'edited' must not have an invisible character in a name: 'lines.0.amo<U+200B>unt'"
    expect(await shared().call('POST', `${path}/approve`, { edited })).toMatchObject({ status: 400, body: { error } })
    expect((await shared().call('GET', path)).body.status).toBe('pending')
  })

  test.each<[string, string, string, object]>([
    ['actions/send_note', 'payload', 'U+200B', { 'amo\u200bunt': 1 }],
    ['actions/send_note', 'payload', 'U+3164', { 'amount\u3164': 1 }],
    ['actions/send_note', 'payload', 'U+FE0F', { 'amount\ufe0f': 1 }],
    ['actions/send_note', 'payload', 'U+0009', { 'amount\t': 1 }],
    ['gate', 'input', 'U+200B', { 'amo\u200bunt': 1 }],
  ])('%s: a name in %s with %s is refused before anybody is asked', async (route, field, code, sent) => {
    const body = JSON.stringify({
      ...(route === 'gate' ? { tool: 'book_room' } : { connection: 'crm' }),
      [field]: sent,
    })
    const token = route === 'gate' ? 'brief.service.gate_token' : 'undefined'
    const js = `say({ output: await ask('POST', '/v1/internal/${route}', ${body}, ${token}) })`
    const task = await shared().createTask({ wedge: 'gate', task_type: 'act', input: { js } })
    const { status, body: answer } = (await shared().finished(task.id)).output as {
      status: number
      body: { error: string }
    }
    expect({ status, ...answer }).toMatchObject({ status: 400, error: expect.stringContaining(`<${code}>`) })
    expect(answer.error).toContain(`field '${field}' must not have an invisible character`)
    expect((await shared().call('GET', `/v1/approvals?task_id=${task.id}`)).body.data).toEqual([])
  })
})
