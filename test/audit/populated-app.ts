import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { addMember as joinAs, signUpOwner } from '../identity/accounts/members.ts'
import { requestedApprovalId, SECRET_KEY } from '../approvals/decisions/gated-app.ts'
import { openFakeUpstream, type FakeUpstream } from '../fake-upstream.ts'
import { type TestApp, testApp, writeFiles } from '../app.ts'
import { openFakeBroker } from '../connections/broker/fake-broker.ts'
import type { CallOptions } from '../http.ts'
import type { StoreKind } from '../stores.ts'

/** An `idle` task fails at once, because its connection is missing; a `gated` task waits for an approval, an `asking` task for the answer of the client, and a `buying` task for its approval. */
const WEDGES = {
  'support/wedge.json': {
    wedge: 'support',
    task_types: { idle: { harness: { needs_connections: true } }, gated: {}, asking: {}, buying: {} },
    connections: ['absent'],
    workflows: [{ name: 'send_it' }, { name: 'buy_it' }],
    approvals: [{ action: 'buy_it', required: true, approvers: 'client' }],
    cases: { stages: ['new', 'done'], initial: 'new' },
    intake: ['hours', 'tone'].map((id) => ({ id, question: `What are the ${id}?` })),
  },
  'support/workflows/send_it.mjs': 'export default () => ({ sent: true })',
  'counter/wedge.json': {
    wedge: 'counter',
    task_types: { count: { harness: { shape: 'workflow' } } },
    workflows: [{ name: 'count' }],
  },
  'counter/workflows/count.mjs': 'export default () => ({ count: 1 })',
  'support/rehearsals/gated.json': [
    { call: { tool: 'workflow', input: { name: 'send_it', args: {} } } },
    { output: { sent: true } },
  ],
  'support/workflows/buy_it.mjs': 'export default () => ({ bought: true })',
  'support/rehearsals/buying.json': [
    { call: { tool: 'workflow', input: { name: 'buy_it', args: {} } } },
    { output: { sent: true } },
  ],
  'support/rehearsals/asking.json': [
    { call: { tool: 'ask_person', input: { question: 'Which size?', to: 'client' } } },
    { output: { sent: true } },
  ],
}

/** Its wedge needs no model, without which a blueprint cannot be activated. */
const BLUEPRINT = { blueprint: 'support', title: 'Support', wedge: 'counter' }
export const IDLE = { wedge: 'support', task_type: 'idle' }
export const DAILY = { ...IDLE, cadence: { kind: 'daily', hour: 8, minute: 0 }, enabled: false }
export const MAIL = { kind: 'email', config: {} }

/** An app with members, and with functions that create what each route needs. */
/** A client that has sent one message and has a portal session. */
interface Customer {
  client: string
  handle: string
  channel: string
  thread: string
  task: string
  session: string
}

export interface PopulatedApp extends TestApp {
  outside: FakeUpstream
  broker: Awaited<ReturnType<typeof openFakeBroker>>
  /** The session token of the owner. */
  owner: string
  /** A word that is not used as a name yet. */
  uniqueWord(): string
  /** Posts to the path and returns the created resource. */
  create(path: string, body?: object, options?: CallOptions): Promise<Record<string, string>>
  createId(path: string, body?: object): Promise<string>
  /** The id of a task that has ended. */
  finishedTask(): Promise<string>
  taskAwaitingApproval(): Promise<{ task: string; approval: string }>
  /** A client who wrote a message, with the thread, the task that it started and a portal session. */
  customer(task_type?: string): Promise<Customer>
  /** A question that waits for a client. */
  questionToClient(): Promise<{ question: string; session: string }>
  /** An approval that waits for a client. */
  approvalByClient(): Promise<{ approval: string; session: string }>
  channel(): Promise<string>
  member(): Promise<{ id: string; session: string }>
}

/** Starts an app that is stopped at the end of the test. */
export async function populatedApp(store: StoreKind): Promise<PopulatedApp> {
  const [outside, broker] = [await openFakeUpstream(), await openFakeBroker()]
  const env = {
    SVC_OPEN_SIGNUP: '1',
    SVC_SECRET_KEY: SECRET_KEY,
    SVC_EGRESS_ALLOW: '127.0.0.1',
    SVC_PUBLIC_URL: 'https://desk.example',
    BROKER_API_KEY: 'broker-k3y',
    BROKER_BASE_URL: broker.url,
  }
  onTestFinished(() => outside.close())
  const app = await testApp({ store, wedges: WEDGES, env })
  writeFiles(join(app.dir, 'blueprints'), { 'support.json': BLUEPRINT })
  const owner = await signUpOwner(app)
  return { ...app, outside, broker, owner, ...creators(app, owner) }
}

function creators(app: TestApp, owner: string) {
  let words = 0
  const uniqueWord = () => `word${++words}`
  const create: PopulatedApp['create'] = async (path, body = {}, options = {}) => {
    const { status, body: answer } = await app.call('POST', path, body, options)
    expect(status, `${path}: ${JSON.stringify(answer)}`).toBe(201)
    return answer
  }
  const createId = async (path: string, body?: object) => (await create(path, body)).id ?? ''
  const channel = async (task_type = IDLE.task_type) => {
    const connection_id = await createId('/v1/connections', { ...MAIL, name: uniqueWord() })
    return createId('/v1/channels', { ...IDLE, task_type, connection_id, address: `${uniqueWord()}@example.com` })
  }
  const customer: PopulatedApp['customer'] = async (task_type) => {
    const handle = `${uniqueWord()}@example.com`
    const channelId = await channel(task_type)
    const mail = { from: { handle }, body: 'Where is it?' }
    const written = await create(`/v1/channels/${channelId}/inbound`, mail)
    const { client_id: client = '', thread_id: thread = '', task_id: task = '' } = written
    const { token } = await create(`/v1/clients/${client}/portal-link`)
    const { session_token: session = '' } = await create('/v1/portal/session', { token }, { key: null })
    return { client, handle, channel: channelId, thread, task, session }
  }
  return {
    uniqueWord,
    create,
    createId,
    channel,
    async finishedTask() {
      const task = await createId('/v1/tasks', IDLE)
      await app.finished(task)
      return task
    },
    async taskAwaitingApproval() {
      const task = await createId('/v1/tasks', { ...IDLE, task_type: 'gated' })
      return { task, approval: await requestedApprovalId(app, task) }
    },
    customer,
    async questionToClient() {
      const { task, session } = await customer('asking')
      return { question: await requestedApprovalId(app, task), session }
    },
    async approvalByClient() {
      const { task, session } = await customer('buying')
      return { approval: await requestedApprovalId(app, task), session }
    },
    member: () => joinAs(app, owner, 'viewer', `${uniqueWord()}@example.com`),
  }
}
