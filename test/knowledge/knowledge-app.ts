import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { sharedApp, type TestApp, type TestAppOptions } from '../app.ts'
import { writeWedgeFiles } from '../wedges/wedge-folder.ts'

/** A running service, and a wedge in it that no other test has touched. */
export interface KnowledgeApp extends TestApp {
  wedge: string
  /** The wedge's path in the API. */
  path: string
  /** The folder of wedges. */
  wedgesDir: string
}

/** One service for all tests of a block; each call places another wedge that has a bit of everything. */
export function knowledgeApps(options: TestAppOptions): () => Promise<KnowledgeApp> {
  const shared = sharedApp({ ...options, env: { SVC_OPEN_SIGNUP: '1', ...options.env } })
  let placed = 0
  return async () => {
    const app = shared()
    const wedge = `desk-${++placed}`
    const wedges = join(app.dir, 'wedges')
    await writeWedgeFiles(wedges, wedge, knowledgeWedgeFiles(wedge))
    await app.ctx.wedges.find(wedge)
    return { ...app, wedge, wedgesDir: wedges, path: `/v1/wedges/${wedge}` }
  }
}

const knowledgeWedgeFiles = (wedge: string) => ({
  'wedge.json': {
    wedge,
    title: 'Support',
    task_types: { triage: {} },
    intake: [
      { id: 'window', question: 'How many days may a customer wait?', why: 'It decides refunds.' },
      { id: 'who', question: 'Who takes over?' },
    ],
  },
  'skills/handling.md': 'Be kind.',
  'knowledge/terms.md': 'Thirty days.',
})

/** Another organisation on the same service. The first ever to sign up takes over the one that came with it. */
export async function signUpOtherOrganisation(app: TestApp): Promise<{ key: string }> {
  let key = ''
  for (const name of ['owner', 'stranger']) {
    const account = { email: `${name}-${app.ctx.world.newId('mem')}@example.com`, password: 'correct horse battery' }
    key = (await app.call('POST', '/v1/auth/signup', account, { key: null })).body.session_token
  }
  return { key }
}

export async function firstProjectId(app: TestApp): Promise<string> {
  return (await app.call('GET', '/v1/projects')).body.data[0].id
}

/** The project has only a wedge that does not exist, until the end of the test. */
export async function disableWedges(app: TestApp): Promise<void> {
  const set = (wedges: string | null) =>
    app.ctx.store.transact((db) => db.updateTable('projects').set({ wedges }).execute())
  onTestFinished(() => set(null).then(() => {}))
  await set('["other"]')
}

/** What was audited about the desk's wedge, in order. */
export async function wedgeAuditActions(desk: KnowledgeApp): Promise<string[]> {
  const entries = await desk.ctx.db.selectFrom('audit_entries').select(['action', 'data']).orderBy('seq').execute()
  return entries.filter(({ data }) => JSON.parse(data).wedge === desk.wedge).map(({ action }) => action)
}

/** A finished task as a row: what matters here is whose it was. */
export async function insertFinishedTask(desk: KnowledgeApp, clientId: string | null) {
  const task = {
    id: desk.ctx.world.newId('task'),
    project_id: await firstProjectId(desk),
    wedge: desk.wedge,
    task_type: 'triage',
  }
  const row = {
    ...task,
    status: 'succeeded',
    input: '{}',
    actor: 'null',
    constraints: '{}',
    tools: '[]',
    client_id: clientId,
    cost_micros: 0,
    last_event_id: 0,
    epoch: 0,
    created_at: new Date(0).toISOString(),
  }
  await desk.ctx.store.transact((db) => db.insertInto('tasks').values(row).execute())
  return task
}
