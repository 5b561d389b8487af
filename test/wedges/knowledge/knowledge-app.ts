import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { sharedApp, type TestApp, type TestAppOptions } from '../../app.ts'
import { writeWedgeFiles } from '../library/wedge-folder.ts'

/** An app with a wedge that no other test uses. */
export interface KnowledgeApp extends TestApp {
  wedge: string
  /** The API path of the wedge. */
  path: string
  /** The wedges folder. */
  wedgesDir: string
}

/** Returns a function that adds a new wedge to one shared app. */
export function knowledgeApps(options: TestAppOptions): () => Promise<KnowledgeApp> {
  const shared = sharedApp({ ...options, env: { SVC_OPEN_SIGNUP: '1', ...options.env } })
  let count = 0
  return async () => {
    const app = shared()
    const wedge = `support-${++count}`
    const wedgesDir = join(app.dir, 'wedges')
    await writeWedgeFiles(wedgesDir, wedge, knowledgeWedgeFiles(wedge))
    await app.ctx.wedges.find(wedge)
    return { ...app, wedge, wedgesDir, path: `/v1/wedges/${wedge}` }
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

/** The session of another organisation. */
export async function signUpOtherOrganisation(app: TestApp): Promise<{ key: string }> {
  const account = { email: `${app.ctx.world.newId('mem')}@example.com`, password: 'correct horse battery' }
  return { key: (await app.call('POST', '/v1/auth/signup', account, { key: null })).body.session_token }
}

export async function firstProjectId(app: TestApp): Promise<string> {
  return (await app.call('GET', '/v1/projects')).body.data[0].id
}

/** Enables only a wedge that does not exist, until the end of the test. */
export async function disableWedges(app: TestApp): Promise<void> {
  const set = (wedges: string | null) =>
    app.ctx.store.transact((db) => db.updateTable('projects').set({ wedges }).execute())
  onTestFinished(() => set(null).then(() => {}))
  await set('["other"]')
}

/** The audit actions for the app's wedge, oldest first. */
export async function wedgeAuditActions(app: KnowledgeApp): Promise<string[]> {
  const entries = await app.ctx.db.selectFrom('audit_entries').select(['action', 'data']).orderBy('seq').execute()
  return entries.filter(({ data }) => JSON.parse(data).wedge === app.wedge).map(({ action }) => action)
}

/** Inserts the row of a finished task of this client. */
export async function insertFinishedTask(app: KnowledgeApp, clientId: string | null) {
  const task = {
    id: app.ctx.world.newId('task'),
    project_id: await firstProjectId(app),
    wedge: app.wedge,
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
    counted_events: 0,
    epoch: 0,
    created_at: new Date(0).toISOString(),
  }
  await app.ctx.store.transact((db) => db.insertInto('tasks').values(row).execute())
  return task
}
