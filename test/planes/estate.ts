import { join as pathOf } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { inTx } from '../../src/ctx/ctx.ts'
import type { Role } from '../../src/ctx/scope.ts'
import { reportGap } from '../../src/knowledge/intake.ts'
import { insertArtifact, insertFile } from '../../src/tasks/rows.ts'
import type { Approvals } from '../../src/store/tables.ts'
import { join, signUp } from '../accounts/people.ts'
import { KEY, startTestApp, type TestApp, writeFiles } from '../app.ts'
import type { StoreKind } from '../stores.ts'
import { FOUNDER, nameOf } from './table.ts'

/** Its tasks end before they start, so that a thousand of them cost nothing. */
const DESK = {
  wedge: 'desk',
  task_types: { triage: { harness: { needs_connections: true } } },
  connections: ['absent'],
  cases: { stages: ['new', 'done'], initial: 'new' },
  intake: [{ id: 'hours', question: 'When are you open?' }],
}

const BLUEPRINT = {
  blueprint: 'desk',
  title: 'Desk',
  summary: 'Answers mail.',
  sells_as: 'Support',
  wedge: 'desk',
  requires_connections: [{ name: 'crm', kind: 'custom' }],
  schedules: [],
  seed_knowledge: [{ name: 'tone', content: 'Be kind.' }],
}

/** One project with one of everything, by the word that stands before `:id` in paths. */
export interface Place {
  key: string
  ids: Record<string, string>
}

/** Two organisations: `near` and `beside` are projects of the first, `far` of the second. */
export interface Estate extends TestApp {
  near: Place
  beside: Place
  far: Place
  /** Sessions of the first organisation's members. */
  sessions: Record<Role, string>
  farOwner: string
}

async function openEstate(store: StoreKind, wedges: Record<string, unknown> = {}): Promise<Estate> {
  const env = {
    SVC_OPEN_SIGNUP: '1',
    SVC_TASK_RATE_PER_MIN: '100000',
    BROKER_API_KEY: 'broker-key',
    BROKER_BASE_URL: 'http://127.0.0.1:9',
  }
  const app = await startTestApp({ store, wedges: { 'desk/wedge.json': DESK, ...wedges }, env })
  writeFiles(pathOf(app.dir, 'blueprints'), { 'desk.json': BLUEPRINT })
  const owner = await signUp(app)
  const farOwner = await signUp(app, 'far@example.com')
  const sessions = { owner, viewer: '', operator: '', admin: '' }
  for (const role of ['viewer', 'operator', 'admin'] as const) sessions[role] = (await join(app, owner, role)).session
  const besideId = await made(app, owner, '/v1/projects', { name: 'Beside' })
  const near = await furnish(app, KEY, owner)
  const beside = await furnish(app, await newKey(app, owner, besideId), owner)
  const far = await furnish(app, await newKey(app, farOwner), farOwner)
  await settled(app)
  return { ...app, near, beside, far, sessions, farOwner }
}

/** One estate for all tests of a describe block. */
export function sharedEstate(store: StoreKind): () => Estate {
  let estate: Estate
  beforeAll(async () => {
    estate = await openEstate(store)
  })
  afterAll(() => estate?.stop())
  return () => estate
}

async function newKey(app: TestApp, session: string, project?: string): Promise<string> {
  const headers = project ? { 'x-svc-project': project } : {}
  const answer = await app.call('POST', '/v1/keys', { name: 'server' }, { key: session, headers })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body.key
}

async function made(app: TestApp, key: string, path: string, body: object): Promise<string> {
  const answer = await app.call('POST', path, body, { key })
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body.id
}

/** Not every build has them. */
const WEBHOOKS = FOUNDER.some((route) => nameOf(route) === 'POST /v1/webhooks')

async function furnish(app: TestApp, key: string, owner: string): Promise<Place> {
  const make = (path: string, body: object) => made(app, key, path, body)
  const connections = await make('/v1/connections', { kind: 'email', name: 'mail' })
  const task = { wedge: 'desk', task_type: 'triage' }
  const channels = await make('/v1/channels', { connection_id: connections, address: 'help@example.com', ...task })
  const mail = { from: { handle: 'ada@example.com', name: 'Ada' }, body: 'Where is it?', subject: 'Order 7' }
  const { body: written } = await app.call('POST', `/v1/channels/${channels}/inbound`, mail, { key })
  const cases = await make('/v1/cases', { wedge: 'desk', client_id: written.client_id })
  const cadence = { kind: 'daily', hour: 8, minute: 0 }
  const schedule = { name: 'daily', ...task, cadence, enabled: false, client_id: written.client_id, case_id: cases }
  const project = (await app.call('GET', '/v1/projects', undefined, { key })).body.data[0].id
  const invite = { email: `invited-${project}@example.com`, role: 'viewer' }
  const ids = {
    projects: project,
    members: (await app.call('POST', '/v1/members', invite, { key: owner })).body.member.id,
    connections,
    channels,
    tasks: written.task_id,
    threads: written.thread_id,
    clients: written.client_id,
    cases,
    knowledge: await make('/v1/wedges/desk/knowledge', { name: 'hours', content: 'Nine to five.' }),
    records: await make('/v1/records', { wedge: 'desk', collection: 'orders', key: '7', value: { paid: true } }),
    schedules: await make('/v1/schedules', schedule),
    keys: await make('/v1/keys', { name: 'spare' }),
    webhooks: WEBHOOKS ? await make('/v1/webhooks', { url: 'https://hooks.example/', events: ['task.finished'] }) : '',
    delivery: 'dlv_0',
    artifacts: app.ctx.world.newId('art'),
    approvals: app.ctx.world.newId('apr'),
    question: '',
    wedge: 'desk',
    toolkit: 'gmail',
    slug: 'desk',
  }
  ids.question = await writeRows(app, ids)
  return { key, ids }
}

/** What only a run makes. */
async function writeRows(app: TestApp, ids: Record<'projects' | 'tasks' | 'artifacts' | 'approvals', string>) {
  const at = new Date(app.clock.now()).toISOString()
  const base = { project_id: ids.projects, task_id: ids.tasks, created_at: at }
  return inTx(app.ctx, async (tx) => {
    const file = { name: 'a.txt', content_type: 'text/plain', size: 5 }
    await insertArtifact(tx.db, { ...base, ...file, id: ids.artifacts })
    await insertFile(tx.db, { artifact_id: ids.artifacts, content: 'aGVsbG8=' })
    const approval: Approvals = {
      ...base,
      id: ids.approvals,
      wedge: 'desk',
      task_type: 'triage',
      action: 'mail:send',
      risk: 'high',
      path: 'action',
      payload: '{"to":"ada@example.com"}',
      payload_sha256: 'none',
      edited: null,
      status: 'pending',
      policy_reason: null,
      policy_rule: null,
      reason: null,
      note: null,
      connection_id: null,
      connection: null,
      expires_at: new Date(app.clock.now() + 300_000).toISOString(),
      decided_at: null,
      decided_by_kind: null,
      decided_by_id: null,
    }
    await tx.db.insertInto('approvals').values(approval).execute()
    const question = `Only ${ids.projects} asks this?`
    const gap = { projectId: ids.projects, wedge: 'desk', taskId: ids.tasks, question }
    return (await reportGap(tx, gap)).question_id
  })
}

/** Resolves when no task is under way any more: from then on only requests change rows. */
export async function settled(app: TestApp): Promise<void> {
  const open = ['queued', 'provisioning', 'running']
  for (;;) {
    const rows = await app.ctx.db.selectFrom('tasks').select('id').where('status', 'in', open).execute()
    if (rows.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** An email's session for the portal of a place, from a link that is used up. */
export async function portalSession(app: TestApp, place: Place, client = place.ids.clients): Promise<string> {
  const link = await app.call('POST', `/v1/clients/${client}/portal-link`, undefined, { key: place.key })
  const opened = await app.call('POST', '/v1/portal/session', { token: link.body.token }, { key: null })
  return opened.body.session_token
}
