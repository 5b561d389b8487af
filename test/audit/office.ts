import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { join as joinAs, signUp } from '../accounts/people.ts'
import { approvalOf, SECRET_KEY } from '../approvals/desk.ts'
import { openOutside, type Outside } from '../outside.ts'
import { type TestApp, testApp, writeFiles } from '../app.ts'
import { provider } from '../connections/provider.ts'
import type { CallOptions } from '../http.ts'
import type { StoreKind } from '../stores.ts'

/** `idle` ends before it starts, for want of a connection; `gated` waits for a person. */
const WEDGES = {
  'desk/wedge.json': {
    wedge: 'desk',
    task_types: { idle: { harness: { needs_connections: true } }, gated: {} },
    connections: ['absent'],
    workflows: [{ name: 'send_it' }],
    cases: { stages: ['new', 'done'], initial: 'new' },
    intake: ['hours', 'tone'].map((id) => ({ id, question: `What are the ${id}?` })),
  },
  'desk/workflows/send_it.mjs': 'export default () => ({ sent: true })',
  'desk/rehearsals/gated.json': [
    { call: { tool: 'workflow', input: { name: 'send_it', args: {} } } },
    { output: { sent: true } },
  ],
}

const BLUEPRINT = { blueprint: 'desk', title: 'Desk', wedge: 'desk' }
export const IDLE = { wedge: 'desk', task_type: 'idle' }
export const DAILY = { ...IDLE, cadence: { kind: 'daily', hour: 8, minute: 0 }, enabled: false }
export const MAIL = { kind: 'email', config: {} }

/** A project with people, in which everything that a route needs can be made. */
export interface Office extends TestApp {
  outside: Outside
  broker: Awaited<ReturnType<typeof provider>>
  /** Its owner's session. */
  owner: string
  /** A word that nothing has as a name yet. */
  fresh(): string
  /** What was created; `key` is the project's unless told otherwise. */
  make(path: string, body?: object, options?: CallOptions): Promise<Record<string, string>>
  id(path: string, body?: object): Promise<string>
  /** Tasks that are over, and that wait for this approval. */
  overTask(): Promise<string>
  waiting(): Promise<{ task: string; approval: string }>
  /** Somebody who has written, with their thread and a session of the portal. */
  customer(): Promise<{ client: string; thread: string; session: string }>
  channel(): Promise<string>
  member(): Promise<{ id: string; session: string }>
}

/** Closed at the end of the test that opened it. */
export async function openOffice(store: StoreKind): Promise<Office> {
  const [outside, broker] = [await openOutside(), await provider()]
  const env = {
    SVC_OPEN_SIGNUP: '1',
    SVC_SECRET_KEY: SECRET_KEY,
    SVC_EGRESS_ALLOW: '127.0.0.1',
    BROKER_API_KEY: 'broker-k3y',
    BROKER_BASE_URL: broker.url,
  }
  onTestFinished(() => outside.close())
  const app = await testApp({ store, wedges: WEDGES, env })
  writeFiles(join(app.dir, 'blueprints'), { 'desk.json': BLUEPRINT })
  const owner = await signUp(app)
  return { ...app, outside, broker, owner, ...makers(app, owner) }
}

function makers(app: TestApp, owner: string) {
  let words = 0
  const fresh = () => `word${++words}`
  const make: Office['make'] = async (path, body = {}, options = {}) => {
    const { status, body: answer } = await app.call('POST', path, body, options)
    expect(status, `${path}: ${JSON.stringify(answer)}`).toBe(201)
    return answer
  }
  const id = async (path: string, body?: object) => (await make(path, body)).id ?? ''
  const channel = async () => {
    const connection_id = await id('/v1/connections', { ...MAIL, name: fresh() })
    return id('/v1/channels', { ...IDLE, connection_id, address: `${fresh()}@example.com` })
  }
  return {
    fresh,
    make,
    id,
    channel,
    async overTask() {
      const task = await id('/v1/tasks', IDLE)
      await app.finished(task)
      return task
    },
    async waiting() {
      const task = await id('/v1/tasks', { ...IDLE, task_type: 'gated' })
      return { task, approval: await approvalOf(app, task) }
    },
    async customer() {
      const mail = { from: { handle: `${fresh()}@example.com` }, body: 'Where is it?' }
      const { client_id = '', thread_id = '' } = await make(`/v1/channels/${await channel()}/inbound`, mail)
      const { token } = await make(`/v1/clients/${client_id}/portal-link`)
      const { session_token = '' } = await make('/v1/portal/session', { token }, { key: null })
      return { client: client_id, thread: thread_id, session: session_token }
    },
    member: () => joinAs(app, owner, 'viewer', `${fresh()}@example.com`),
  }
}
