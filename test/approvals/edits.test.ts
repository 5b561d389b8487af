import { expect, test } from 'vitest'
import { eachStore } from '../app.ts'
import { scriptedAgentFolder } from '../runs/scripted-agent.ts'
import { requestedApprovalId, sharedGatedApp } from './gated-app.ts'

const agents = scriptedAgentFolder()
const EDIT = { edited: { text: 'hi' } }

eachStore((store) => {
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
})
