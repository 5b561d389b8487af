import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { planTask } from '../../../src/work/tasks/create-task.ts'
import { insertTask } from '../../../src/work/tasks/rows.ts'
import { type TestApp, testApp } from '../../app.ts'
import type { StoreKind } from '../../stores.ts'

/** Its tasks fail before a sandbox starts, because a connection is missing: these tests are about threads only. */
const DESK_WEDGE = {
  wedge: 'desk',
  task_types: { triage: { harness: { needs_connections: true } }, close: { harness: { needs_connections: true } } },
  connections: ['absent'],
  cases: { stages: ['new', 'done'], initial: 'new' },
}

function inputOf(properties: object) {
  return { input_schema: { type: 'object', required: Object.keys(properties), properties } }
}

const WEDGES = {
  'desk/wedge.json': DESK_WEDGE,
  'other/wedge.json': { ...DESK_WEDGE, wedge: 'other' },
  'forms/wedge.json': {
    wedge: 'forms',
    task_types: {
      text: inputOf({ from: { type: 'string' }, text: { type: 'string' } }),
      order: inputOf({ order_id: { type: 'string' } }),
      subject: inputOf({ subject: { type: 'string' } }),
      message: inputOf({ from: { type: 'object', required: ['handle'] }, body: { type: 'string' } }),
    },
  },
  'reply/wedge.json': { wedge: 'reply', task_types: { triage: {} } },
  'reply/rehearsals/triage.json': [{ output: { reply: 'You wrote: {{input.body}}' } }],
  'asking/wedge.json': { wedge: 'asking', task_types: { triage: {} } },
  'asking/rehearsals/triage.json': [
    { call: { tool: 'ask_person', input: { question: 'Which size?', to: 'client' } } },
    { output: { reply: 'Thank you.' } },
  ],
  'shipping/wedge.json': {
    wedge: 'shipping',
    workflows: [{ name: 'ship_it' }],
    approvals: [{ action: 'ship_it', approvers: 'client', required: true }],
    task_types: { triage: {} },
  },
  'shipping/workflows/ship_it.mjs': 'export default () => ({ shipped: true })',
  'shipping/rehearsals/triage.json': [
    { call: { tool: 'workflow', input: { name: 'ship_it', args: {} } } },
    { output: {} },
  ],
}

export type ChannelApp = TestApp & { connection: string; channel: string }

/** A service with a channel whose messages start tasks of a wedge. */
export async function openChannelApp(
  store: StoreKind,
  wedge = 'desk',
  env: Record<string, string> = {},
): Promise<ChannelApp> {
  const open = { SVC_OPEN_SIGNUP: '1', SVC_PUBLIC_URL: 'https://desk.example/' }
  const app = await testApp({ store, wedges: WEDGES, env: { ...open, ...env } })
  const connection = await createAndGetId(app, '/v1/connections', { kind: 'email', name: 'mail' })
  const binding = { connection_id: connection, address: 'help@desk.example', wedge, task_type: 'triage' }
  return { ...app, connection, channel: await createAndGetId(app, '/v1/channels', binding) }
}

/** Sends a POST and returns the id of what it created. */
export async function createAndGetId(app: Pick<TestApp, 'call'>, path: string, body: object): Promise<string> {
  const response = await app.call('POST', path, body)
  if (response.status !== 201) throw new Error(`${path}: ${response.status} ${JSON.stringify(response.body)}`)
  return response.body.id
}

export interface InboundResult {
  task_id: string
  thread_id: string
  client_id: string
}

export async function sendInbound(
  app: Pick<ChannelApp, 'call' | 'channel'>,
  handle: string,
  more: object = {},
): Promise<InboundResult> {
  const response = await app.call('POST', `/v1/channels/${app.channel}/inbound`, inboundMail(handle, more))
  if (response.status !== 201) throw new Error(`${response.status} ${JSON.stringify(response.body)}`)
  return response.body
}

export const inboundMail = (handle: string, more: object = {}) => ({
  from: { handle, name: 'Ada' },
  body: 'Where is my order?',
  subject: 'Order 7',
  ...more,
})

/** A client that has sent one message and has a portal session. */
export async function openPortal(app: Pick<ChannelApp, 'call' | 'channel'>, handle: string, more: object = {}) {
  const written = await sendInbound(app, handle, more)
  const link = await app.call('POST', `/v1/clients/${written.client_id}/portal-link`)
  const session = await app.call('POST', '/v1/portal/session', { token: link.body.token }, { key: null })
  const key: string = session.body.session_token
  const portal = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    app.call(method, `/v1/portal/${path}`, body, { key, headers })
  return { ...written, key, portal }
}

/** Inserts a running task whose log the test writes. */
export async function insertRunningTask(app: TestApp, clientId: string): Promise<string> {
  const request = { wedge: 'desk', task_type: 'triage' }
  const plan = await planTask(app.ctx, { projectId: await projectIdOf(app) }, request, { client_id: clientId })
  await inTx(app.ctx, async (tx) => {
    await insertTask(tx.db, { ...plan, status: 'running' })
    await tx.db.updateTable('tasks').set({ started_at: plan.created_at }).where('id', '=', plan.id).execute()
  })
  return plan.id
}

/** A session of another organisation on the same service. */
export async function otherOrganisationSession(app: TestApp): Promise<string> {
  const account = { email: 'other@example.com', password: 'correct horse battery' }
  return (await app.call('POST', '/v1/auth/signup', account, { key: null })).body.session_token
}

export async function projectIdOf(app: TestApp): Promise<string> {
  return (await app.call('GET', '/v1/projects')).body.data[0].id
}

/** The audit entries of channels, clients, messages, portal and threads, such as `key client.created`. */
export async function auditLines(app: TestApp): Promise<string[]> {
  const query = app.ctx.db.selectFrom('audit_entries').select(['actor_kind', 'action']).orderBy('seq')
  const lines = (await query.execute()).map(({ actor_kind, action }) => `${actor_kind} ${action}`)
  return lines.filter((line) => /^\w+ (channel|client|message|portal|thread)\./.test(line))
}
