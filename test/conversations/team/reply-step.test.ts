import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { starterWedgeFiles } from '../../../src/programs/cli/wedge/starter-wedge.ts'
import { anyStore, type TestApp, testApp, writeFiles } from '../../app.ts'
import { createAndGetId } from '../../customers/channels/channel-app.ts'
import { openFakeUpstream, respondJson } from '../../fake-upstream.ts'
import type { StoreKind } from '../../stores.ts'
import { addConversationChannel } from './conversation-app.ts'

const REPLY = 'Thank you for your message. We are open Monday to Friday, 09:00 to 17:00.'

/** The wedge of `svc wedge new`, whose workflow publish_reply is the step in which the reply is approved. */
async function openStarterApp(store: StoreKind, step: object = {}, more: Record<string, string> = {}) {
  const provider = await openFakeUpstream()
  onTestFinished(() => provider.close())
  provider.respond = (_, response) => respondJson(response, 200, { ok: true, result: { message_id: 1 } })
  const { 'wedge.json': manifest = '{}', ...files } = starterWedgeFiles('starter')
  const { approvals, ...starter } = JSON.parse(manifest)
  const wedges = { 'wedge.json': { ...starter, approvals: [{ ...approvals[0], ...step }] }, ...files }
  const named = Object.entries(wedges).map(([name, file]) => [`starter/${name}`, file])
  const env = { SVC_PUBLIC_URL: 'https://desk.example', SVC_EGRESS_ALLOW: '127.0.0.1', ...more }
  return { ...(await testApp({ store, wedges: Object.fromEntries(named), env })), provider }
}

/** Passes the step of the reply and another tool, which a person approves, and then replies. */
const AGENT = `
  import { request } from 'node:http'
  let text = ''
  for await (const piece of process.stdin) text += piece
  const { service } = JSON.parse(text.split('\\n')[0])
  const pass = (tool) => new Promise((resolve) => {
    const headers = { authorization: 'Bearer ' + service.gate_token, 'content-type': 'application/json' }
    const options = { socketPath: service.socket, method: 'POST', path: '/v1/internal/gate', headers }
    request(options, (response) => response.resume().on('end', resolve)).end(JSON.stringify({ tool }))
  })
  await pass('publish_reply')
  await pass('send_report')
  console.log(JSON.stringify({ output: { topic: 'question', reply: '${REPLY}' } }))`

function customAgent(): Record<string, string> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-agent-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  writeFiles(dir, { 'agent.mjs': AGENT })
  return { SVC_AGENT_DIR: dir, SVC_AGENT_COMMAND: 'node agent.mjs' }
}

const approvalsOf = async (app: TestApp, task: string) =>
  (await app.call('GET', `/v1/approvals?task_id=${task}`)).body.data

async function pendingApproval(app: TestApp, task: string) {
  await expect.poll(async () => (await approvalsOf(app, task)).length).toBe(1)
  return (await approvalsOf(app, task))[0]
}

anyStore((store) => {
  test('a channel that asks for the reply itself asks once, and sends exactly what was approved', async () => {
    const app = await openStarterApp(store, { approvers: ['admin'], needed: 1 })
    const chat = await addConversationChannel(app, app.provider, { wedge: 'starter', task_type: 'answer' })
    const { task_id, thread_id } = (await chat.deliver(7, 'When are you open?')).body
    const approval = await pendingApproval(app, task_id)
    // Who decides about the step decides about the reply in its place.
    expect(approval).toMatchObject({ action: 'bot:reply', preview: { text: REPLY }, approvers: ['admin'] })
    await app.call('POST', `/v1/approvals/${approval.approval_id}/approve`)
    expect(await app.finished(task_id)).toMatchObject({ status: 'succeeded', output: { reply: REPLY } })
    expect(await approvalsOf(app, task_id)).toHaveLength(1)
    expect(chat.sentTexts()).toEqual([REPLY])
    expect((await chat.thread(thread_id)).messages).toMatchObject([{ direction: 'inbound' }, { body: REPLY }])
  })

  test('a channel without an adapter asks for the reply itself, which names its reader and can be edited', async () => {
    const app = await openStarterApp(store)
    const connection_id = await createAndGetId(app, '/v1/connections', { kind: 'email', name: 'mail' })
    const binding = { connection_id, address: 'help@desk.example', wedge: 'starter', task_type: 'answer' }
    const channel = await createAndGetId(app, '/v1/channels', binding)
    const message = { from: { handle: 'kim@example.com', name: 'Kim' }, body: 'When are you open?' }
    const { task_id, thread_id } = (await app.call('POST', `/v1/channels/${channel}/inbound`, message)).body
    const approval = await pendingApproval(app, task_id)
    const request = { action: 'portal:reply', text: 'Reply to Kim in the portal', preview: { text: REPLY } }
    expect(approval).toMatchObject({ ...request, allowed_decisions: expect.arrayContaining(['edit']) })
    const edit = (edited: object) => app.call('POST', `/v1/approvals/${approval.approval_id}/approve`, { edited })
    expect((await edit({ text: ' ' })).status).toBe(400)
    expect((await edit({ text: 'All week.' })).status).toBe(200)
    expect(await app.finished(task_id)).toMatchObject({ status: 'succeeded', output: { reply: 'All week.' } })
    expect(await approvalsOf(app, task_id)).toHaveLength(1)
    const { messages } = (await app.call('GET', `/v1/threads/${thread_id}`)).body
    expect(messages).toMatchObject([{ direction: 'inbound' }, { direction: 'outbound', body: 'All week.' }])
  })

  test('a task without a conversation asks in the step', async () => {
    const app = await openStarterApp(store)
    const input = { from: { handle: 'kim@example.com' }, body: 'When are you open?' }
    const task = await createAndGetId(app, '/v1/tasks', { wedge: 'starter', task_type: 'answer', input })
    const approval = await pendingApproval(app, task)
    expect(approval).toMatchObject({ action: 'publish_reply', preview: { reply: REPLY } })
    await app.call('POST', `/v1/approvals/${approval.approval_id}/approve`)
    expect(await app.finished(task)).toMatchObject({ status: 'succeeded', output: { reply: REPLY } })
    expect(await approvalsOf(app, task)).toHaveLength(1)
  })

  test('a step that is not declared as the reply is asked for besides it', async () => {
    const app = await openStarterApp(store, { is_reply: false })
    const chat = await addConversationChannel(app, app.provider, { wedge: 'starter', task_type: 'answer' })
    const { task_id } = (await chat.deliver(7, 'When are you open?')).body
    expect(await pendingApproval(app, task_id)).toMatchObject({ action: 'publish_reply' })
  })
})

test.each([
  ['is deleted', 'DELETE', undefined, 'reply'],
  ['loses its adapter', 'PUT', { adapter: null }, 'portal:reply'],
])(
  'a reply whose step was left out is asked for before it is shown if the channel %s meanwhile',
  async (_, method, change, action) => {
    const app = await openStarterApp('sqlite', { approvers: ['admin'] }, customAgent())
    const chat = await addConversationChannel(app, app.provider, { wedge: 'starter', task_type: 'answer' })
    const { task_id, thread_id } = (await chat.deliver(7, 'When are you open?')).body
    const tool = await pendingApproval(app, task_id)
    expect(tool).toMatchObject({ action: 'send_report' })
    const events = await app.events(task_id, { until: ({ event }) => event === 'approval.requested' })
    const notes = events.flatMap(({ data }) => (data.type === 'progress' ? [data.data] : []))
    const text = 'The reply needs an approval before it goes out, so publish_reply needs none'
    // A note with a state is not shown to the client.
    expect(notes).toEqual([{ text, state: 'approval_left_out' }])
    expect((await app.call(method, `/v1/channels/${chat.channel}`, change)).status).toBeLessThan(300)
    await app.call('POST', `/v1/approvals/${tool.approval_id}/approve`)
    await expect
      .poll(async () => (await chat.thread(thread_id)).pending[0] ?? tool.approval_id)
      .not.toBe(tool.approval_id)
    const [approval] = (await chat.thread(thread_id)).pending
    // Who decides about the step decides about the reply in its place.
    const request = { action, preview: { text: REPLY }, approvers: ['admin'], connection: null, hold_s: 5 }
    expect((await app.call('GET', `/v1/approvals/${approval}`)).body).toMatchObject(request)
    expect((await chat.thread(thread_id)).messages).toHaveLength(1)
    await app.call('POST', `/v1/approvals/${approval}/approve`)
    expect(await app.finished(task_id)).toMatchObject({ status: 'succeeded', output: { reply: REPLY } })
    expect((await chat.thread(thread_id)).messages).toMatchObject([{ direction: 'inbound' }, { body: REPLY }])
    expect(chat.sentTexts()).toEqual([])
  },
)
