import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll } from 'vitest'
import { newToken, tokenHash } from '../../../src/platform/base/tokens.ts'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { type Role, SYSTEM_ACTOR } from '../../../src/platform/ctx/scope.ts'
import { insertMessageFiles, insertTaskFiles } from '../../../src/work/files/rows.ts'
import { storeFile } from '../../../src/work/files/store-file.ts'
import { reportKnowledgeGap } from '../../../src/wedges/knowledge/intake.ts'
import { insertDecisionLinks } from '../../../src/approvals/notifications/links/decision-link-rows.ts'
import { upsertNotificationLink } from '../../../src/approvals/notifications/links/link-rows.ts'
import { upsertNotifier } from '../../../src/approvals/notifications/rows.ts'
import { insertArtifact, insertArtifactFile } from '../../../src/work/tasks/rows.ts'
import type { ApprovalRow } from '../../../src/platform/store/tables.ts'
import { addMember, signUpOwner } from '../../identity/accounts/members.ts'
import { FOUNDER_KEY, startTestApp, type TestApp, writeFiles } from '../../app.ts'
import type { StoreKind } from '../../stores.ts'

/** Its tasks fail before they start because a connection is missing, so that a thousand of them cost nothing. */
const DESK_WEDGE = {
  wedge: 'desk',
  task_types: { triage: { harness: { needs_connections: true } } },
  connections: ['absent'],
  cases: { stages: ['new', 'done'], initial: 'new' },
  intake: [{ id: 'hours', question: 'When are you open?' }],
}

const DESK_BLUEPRINT = {
  blueprint: 'desk',
  title: 'Desk',
  summary: 'Answers mail.',
  sells_as: 'Support',
  wedge: 'desk',
  requires_connections: [{ name: 'crm', kind: 'custom' }],
  schedules: [],
  seed_knowledge: [{ name: 'tone', content: 'Be kind.' }],
}

/** A project with one resource of every kind. `ids` has their ids by the word before `:id` in paths. */
export interface SeededProject {
  key: string
  /** The token of a decision link for the approval. */
  decisionToken: string
  ids: Record<string, string>
}

/** An app with two organisations: the first has the own and the sibling project, the second the foreign project. */
export interface TwoTenantApp extends TestApp {
  ownProject: SeededProject
  siblingProject: SeededProject
  foreignProject: SeededProject
  /** Sessions of members of the first organisation. */
  sessions: Record<Role, string>
  /** The session of the owner of the second organisation. */
  foreignOwner: string
}

async function openTwoTenants(store: StoreKind, wedges: Record<string, unknown> = {}): Promise<TwoTenantApp> {
  const env = {
    SVC_OPEN_SIGNUP: '1',
    SVC_TASK_RATE_PER_MIN: '100000',
    BROKER_API_KEY: 'broker-key',
    BROKER_BASE_URL: 'http://127.0.0.1:9',
  }
  const app = await startTestApp({ store, wedges: { 'desk/wedge.json': DESK_WEDGE, ...wedges }, env })
  writeFiles(join(app.dir, 'blueprints'), { 'desk.json': DESK_BLUEPRINT })
  const owner = await signUpOwner(app)
  const foreignOwner = await signUpOwner(app, 'foreign@example.com')
  const sessions = { owner, viewer: '', operator: '', admin: '' }
  for (const role of ['viewer', 'operator', 'admin'] as const)
    sessions[role] = (await addMember(app, owner, role)).session
  const siblingId = await createAndReadId(app, owner, '/v1/projects', { name: 'Sibling' })
  const ownProject = await seedProject(app, FOUNDER_KEY, owner)
  const siblingProject = await seedProject(app, await createKey(app, owner, siblingId), owner)
  const foreignProject = await seedProject(app, await createKey(app, foreignOwner), foreignOwner)
  await waitUntilIdle(app)
  return { ...app, ownProject, siblingProject, foreignProject, sessions, foreignOwner }
}

/** One app for all tests of a describe block. */
export function sharedTwoTenants(store: StoreKind): () => TwoTenantApp {
  let tenants: TwoTenantApp
  beforeAll(async () => {
    tenants = await openTwoTenants(store)
  })
  afterAll(() => tenants?.stop())
  return () => tenants
}

async function createKey(app: TestApp, session: string, project?: string): Promise<string> {
  const headers = project ? { 'x-svc-project': project } : {}
  const response = await app.call('POST', '/v1/keys', { name: 'server' }, { key: session, headers })
  if (response.status !== 201) throw new Error(JSON.stringify(response.body))
  return response.body.key
}

async function createAndReadId(app: TestApp, key: string, path: string, body: object): Promise<string> {
  const response = await app.call('POST', path, body, { key })
  if (response.status !== 201) throw new Error(`${path}: ${response.status} ${JSON.stringify(response.body)}`)
  return response.body.id
}

async function seedProject(app: TestApp, key: string, owner: string): Promise<SeededProject> {
  const create = (path: string, body: object) => createAndReadId(app, key, path, body)
  const connections = await create('/v1/connections', { kind: 'email', name: 'mail' })
  const task = { wedge: 'desk', task_type: 'triage' }
  const channels = await create('/v1/channels', { connection_id: connections, address: 'help@example.com', ...task })
  const mail = { from: { handle: 'ada@example.com', name: 'Ada' }, body: 'Where is it?', subject: 'Order 7' }
  const { body: written } = await app.call('POST', `/v1/channels/${channels}/inbound`, mail, { key })
  const cases = await create('/v1/cases', { wedge: 'desk', client_id: written.client_id })
  const cadence = { kind: 'daily', hour: 8, minute: 0 }
  const schedule = { name: 'daily', ...task, cadence, enabled: false, client_id: written.client_id, case_id: cases }
  const project = (await app.call('GET', '/v1/projects', undefined, { key })).body.data[0].id
  const invite = { email: `invited-${project}@example.com`, role: 'viewer' }
  const ids = {
    projects: project,
    members: (await app.call('POST', '/v1/members', invite, { key: owner })).body.member.id,
    connections,
    channels,
    channel_id: await create('/v1/channels', {
      ...task,
      connection_id: connections,
      address: 'shop.example',
      adapter: 'widget',
      config: { origins: ['https://shop.example'] },
    }),
    tasks: written.task_id,
    threads: written.thread_id,
    clients: written.client_id,
    cases,
    files: await create('/v1/files?name=notes.json', {}),
    knowledge: await create('/v1/wedges/desk/knowledge', { name: 'hours', content: 'Nine to five.' }),
    records: await create('/v1/records', { wedge: 'desk', collection: 'orders', key: '7', value: { paid: true } }),
    schedules: await create('/v1/schedules', schedule),
    keys: await create('/v1/keys', { name: 'spare' }),
    webhooks: await create('/v1/webhooks', { url: 'https://hooks.example/', events: ['task.finished'] }),
    delivery: 'dlv_0',
    artifacts: app.ctx.world.newId('art'),
    approvals: app.ctx.world.newId('apr'),
    question: '',
    questions: app.ctx.world.newId('apr'),
    wedge: 'desk',
    toolkit: 'gmail',
    name: 'echo',
    slug: 'desk',
    token: 'svc_uns_absent',
    kind: 'mail',
    notifiers: app.ctx.world.newId('ntf'),
    'mcp-authorisations': await authoriseApp(app, owner, project),
  }
  ids.question = await insertRunRows(app, ids)
  await setBrandImages(app, key, ids.projects)
  await attachFile(app, ids)
  return { key, decisionToken: await insertNotificationRows(app, owner, ids), ids }
}

/** A notifier for mail, and the link of a mail to the owner, whose token it returns. */
async function insertNotificationRows(
  app: TestApp,
  owner: string,
  ids: Record<'projects' | 'connections' | 'approvals' | 'notifiers', string>,
): Promise<string> {
  const project_id = ids.projects
  const headers = { 'x-svc-project': project_id }
  const { body } = await app.call('GET', '/v1/auth/session', undefined, { key: owner, headers })
  const token = newToken('decisionLink', app.ctx.world.random)
  const now = new Date(app.clock.now()).toISOString()
  const expires_at = new Date(app.clock.now() + 300_000).toISOString()
  await inTx(app.ctx, async (tx) => {
    const notifier = { id: ids.notifiers, project_id, kind: 'mail', connection_id: ids.connections } as const
    await upsertNotifier(tx.db, { ...notifier, created_at: now })
    const { id: member_id, email: address } = body.member
    await upsertNotificationLink(tx.db, { project_id, member_id, kind: 'mail', address, linked_at: now })
    const link = { project_id, approval_id: ids.approvals, member_id, expires_at, used_at: null }
    await insertDecisionLinks(tx.db, [{ hash: tokenHash(token), ...link }])
  })
  return token
}

/** Gives an app access to the project, and returns the id of the authorisation. */
async function authoriseApp(app: TestApp, session: string, project_id: string): Promise<string> {
  const redirect_uri = 'https://assistant.example/callback'
  const registered = await app.call('POST', '/v1/mcp-oauth/register', { redirect_uris: [redirect_uri] }, { key: null })
  const request = { client_id: registered.body.client_id, redirect_uri, response_type: 'code', ...PKCE_CHALLENGE }
  const body = { ...request, project_id, role: 'viewer' }
  await app.call('POST', '/v1/mcp-authorisations', body, { key: session })
  const headers = { 'x-svc-project': project_id }
  return (await app.call('GET', '/v1/mcp-authorisations', undefined, { key: session, headers })).body.data[0].id
}

export const PKCE_CHALLENGE = { code_challenge: 'a'.repeat(43), code_challenge_method: 'S256' }

type RunRowIds = Record<
  'projects' | 'connections' | 'tasks' | 'clients' | 'artifacts' | 'approvals' | 'questions',
  string
>

/** Rows that only a run or a server can create: a tool, an artifact, an approval, a question to the client and a knowledge gap, whose id it returns. */
async function insertRunRows(app: TestApp, ids: RunRowIds) {
  const at = new Date(app.clock.now()).toISOString()
  const base = { project_id: ids.projects, task_id: ids.tasks, created_at: at }
  return inTx(app.ctx, async (tx) => {
    const tool = {
      connection_id: ids.connections,
      name: 'echo',
      description: '',
      input_schema: '{}',
      annotations: '{}',
    }
    const state = { hash: 'none', class: 'ask', state: 'confirmed', position: 0, updated_at: at } as const
    await tx.db
      .insertInto('connection_tools')
      .values({ ...tool, ...state })
      .execute()
    const kept = { connection_id: ids.connections, client_id: '', content: '{}', updated_at: at }
    await tx.db.insertInto('connection_files').values(kept).execute()
    const file = { name: 'client/a.txt', content_type: 'text/plain', size: 5, storage: 'database' as const }
    await insertArtifact(tx.db, { ...base, ...file, id: ids.artifacts })
    await insertArtifactFile(tx.db, { artifact_id: ids.artifacts, content: 'aGVsbG8=' })
    const approval: ApprovalRow = {
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
      revise: 0,
      note: null,
      connection_id: null,
      connection: null,
      client_id: ids.clients,
      tool: null,
      expires_at: new Date(app.clock.now() + 300_000).toISOString(),
      decided_at: null,
      decided_by_kind: null,
      decided_by_id: null,
      needed: 1,
      approvers: '["operator","client"]',
      excludes_requester: 0,
      escalate: null,
      escalated_at: null,
      notify_at: null,
      assignee_id: null,
      version: 0,
      has_messages: 0,
      held_until: null,
      held: null,
      held_by_id: null,
      dropped: null,
    }
    const payload = '{"question":"Which size?","schema":null,"options":null}'
    const asked = { ...approval, id: ids.questions, path: 'question', payload, approvers: null }
    await tx.db.insertInto('approvals').values([approval, asked]).execute()
    const question = `Only ${ids.projects} asks this?`
    const gap = { projectId: ids.projects, wedge: 'desk', taskId: ids.tasks, question }
    return (await reportKnowledgeGap(tx, gap)).question_id
  })
}

/** The logo and the icon of the brand are public. */
async function setBrandImages(app: TestApp, key: string, projectId: string): Promise<void> {
  const owner = { projectId, clientId: null, actor: SYSTEM_ACTOR }
  const image = Readable.from([Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')])
  const { id } = await storeFile(app.ctx, owner, { name: 'logo.svg', contentType: 'image/svg+xml' }, image)
  const set = await app.call('PUT', '/v1/brand', { logo_file_id: id, favicon_file_id: id }, { key })
  if (set.status !== 200) throw new Error(JSON.stringify(set.body))
}

/** The client may read the files of its messages, and a decision link those of its task. */
async function attachFile(app: TestApp, { threads, tasks, files }: Record<'threads' | 'tasks' | 'files', string>) {
  const messages = await app.ctx.db.selectFrom('messages').select('id').where('thread_id', '=', threads).execute()
  await inTx(app.ctx, async (tx) => {
    for (const { id } of messages) await insertMessageFiles(tx.db, id, [files])
    await insertTaskFiles(tx.db, tasks, [files])
  })
}

/** Resolves when no task is queued or running, so that only requests change rows. */
export async function waitUntilIdle(app: TestApp): Promise<void> {
  const open = ['queued', 'provisioning', 'running']
  for (;;) {
    const rows = await app.ctx.db.selectFrom('tasks').select('id').where('status', 'in', open).execute()
    if (rows.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** A portal session of a client of the project. */
export async function openPortalSession(
  app: TestApp,
  project: SeededProject,
  client = project.ids.clients,
): Promise<string> {
  const link = await app.call('POST', `/v1/clients/${client}/portal-link`, undefined, { key: project.key })
  const opened = await app.call('POST', '/v1/portal/session', { token: link.body.token }, { key: null })
  return opened.body.session_token
}
