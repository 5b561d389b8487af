import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { anyStore, testApp } from '../../app.ts'
import { createAndGetId } from '../../customers/channels/channel-app.ts'
import { waitForEvent } from '../../execution/runs/scripted-agent.ts'

const wedge = (approvals: object[]) => ({
  'desk/wedge.json': { wedge: 'desk', task_types: { triage: {} }, approvals },
  'desk/rehearsals/triage.json': [{ output: { reply: 'You wrote: {{input.body}}' } }],
})

anyStore((store) => {
  test('a reply that is only shown in the thread waits for its approval if the wedge says so', async () => {
    const app = await testApp({ store, wedges: wedge([{ action: 'reply', required: true }]) })
    const { task_id, thread_id } = await receiveMessage(app)
    const { approval_id, action } = (await waitForEvent(app, task_id, 'approval.requested')).data.data
    expect(action).toBe('portal:reply')
    expect(await answersOf(app, thread_id)).toEqual([])
    const edited = { text: ' ' }
    expect((await app.call('POST', `/v1/approvals/${approval_id}/approve`, { edited })).status).toBe(400)
    await app.call('POST', `/v1/approvals/${approval_id}/approve`, { edited: { text: 'Hello, Kim.' } })
    expect(await app.finished(task_id)).toMatchObject({ status: 'succeeded', output: { reply: 'Hello, Kim.' } })
    expect(await answersOf(app, thread_id)).toEqual(['Hello, Kim.'])
  })

  test.each([
    ['names no reply', []],
    ['does not require it', [{ action: 'reply' }]],
    ['names a tool', [{ action: 'own-server:reply', required: true }]],
  ])('it is shown at once if the wedge %s', async (_, approvals) => {
    const app = await testApp({ store, wedges: wedge(approvals) })
    const { task_id, thread_id } = await receiveMessage(app)
    expect(await app.finished(task_id)).toMatchObject({ status: 'succeeded' })
    expect(await answersOf(app, thread_id)).toEqual(['You wrote: Hello'])
  })
})

test.each(['portal', 'Widget'])(
  'a rule for shown replies cannot approve what a connection named %s sends',
  async (name) => {
    const app = await testApp({ store: 'sqlite', wedges: wedge([]) })
    const config = { url: 'https://own.example/in' }
    const refused = await app.call('POST', '/v1/connections', { kind: 'webhook', name, config })
    const error = `field 'name' must not be '${name}': '${name.toLowerCase()}:reply' is a reply that is only shown`
    expect(refused).toMatchObject({ status: 400, body: { error } })
    const id = await createAndGetId(app, '/v1/connections', { kind: 'webhook', name: 'own-server', config })
    expect(await app.call('PUT', `/v1/connections/${id}`, { name })).toMatchObject({ status: 400, body: { error } })
  },
)

test('a rule for shown replies does not approve a mail of an older connection with that name', async () => {
  const policy = { auto_approve: [{ action: 'portal:reply' }] }
  const manifest = { ...wedge([])['desk/wedge.json'], connections: ['portal'], policy }
  const call = { call: { tool: 'act', input: { capability: 'portal:reply', payload: { text: 'Hello' } } } }
  const wedges = { 'desk/wedge.json': manifest, 'desk/rehearsals/triage.json': [call, { output: {} }] }
  const app = await testApp({ store: 'sqlite', wedges })
  const config = { url: 'https://own.example/in' }
  const id = await createAndGetId(app, '/v1/connections', { kind: 'webhook', name: 'own-server', config })
  await sql`update connections set name = 'portal' where id = ${id}`.execute(app.ctx.db)
  const task = await createAndGetId(app, '/v1/tasks', { wedge: 'desk', task_type: 'triage', input: {} })
  const { action, connection } = (await waitForEvent(app, task, 'approval.requested')).data.data
  expect({ action, connection }).toEqual({ action: 'portal:reply', connection: 'portal' })
})

type App = Awaited<ReturnType<typeof testApp>>

async function receiveMessage(app: App): Promise<{ task_id: string; thread_id: string }> {
  const config = { url: 'https://own.example/in' }
  const connection_id = await createAndGetId(app, '/v1/connections', { kind: 'webhook', name: 'own-server', config })
  const binding = { connection_id, address: 'help@desk.example', wedge: 'desk', task_type: 'triage' }
  const channel = await createAndGetId(app, '/v1/channels', binding)
  const message = { from: { handle: 'kim@example.com' }, body: 'Hello', external_id: 'm1' }
  return (await app.call('POST', `/v1/channels/${channel}/inbound`, message)).body
}

async function answersOf(app: App, threadId: string): Promise<string[]> {
  const { messages } = (await app.call('GET', `/v1/threads/${threadId}`)).body
  return messages
    .filter((one: { direction: string }) => one.direction === 'outbound')
    .map((one: { body: string }) => one.body)
}
