import { join } from 'node:path'
import { type TestApp, testApp } from '../app.ts'

const DESK = {
  'desk/wedge.json': {
    wedge: 'desk',
    title: 'The desk',
    task_types: { triage: {} },
    intake: [
      { id: 'window', question: 'How many days may a customer wait?', why: 'It decides refunds.' },
      { id: 'who', question: 'Who takes over?' },
    ],
  },
  'desk/skills/handling.md': 'Be kind.',
  'desk/knowledge/terms.md': 'Thirty days.',
  'desk/rehearsals/triage.json': [{ output: { done: true } }],
}

/** A service with one wedge, `desk`, that has a bit of everything, and the path of its folder of wedges. */
export async function deskApp(store: 'sqlite' | 'postgres'): Promise<TestApp & { wedges: string }> {
  const app = await testApp({ store, wedges: DESK, env: { SVC_OPEN_SIGNUP: '1' } })
  return { ...app, wedges: join(app.dir, 'wedges') }
}

/** Another organisation on the same service. The first to sign up takes over the one that came with it. */
export async function stranger(app: TestApp): Promise<{ key: string }> {
  let key = ''
  for (const email of ['owner@example.com', 'stranger@example.com']) {
    const account = { email, password: 'correct horse battery' }
    key = (await app.call('POST', '/v1/auth/signup', account, { key: null })).body.session_token
  }
  return { key }
}

export async function projectOf(app: TestApp): Promise<string> {
  return (await app.call('GET', '/v1/projects')).body.data[0].id
}

export async function auditOf(app: TestApp): Promise<string[]> {
  const chain = await projectOf(app)
  const query = app.ctx.db.selectFrom('audit_entries').select('action').where('chain', '=', chain).orderBy('seq')
  return (await query.execute()).map(({ action }) => action)
}

/** A finished task as a row: what matters here is whose it was. */
export async function addTask(app: TestApp, clientId: string | null): Promise<string> {
  const projectId = await projectOf(app)
  const id = app.ctx.world.newId('task')
  await app.ctx.store.transact((db) =>
    db
      .insertInto('tasks')
      .values({
        id,
        project_id: projectId,
        wedge: 'desk',
        task_type: 'triage',
        status: 'succeeded',
        input: '{}',
        actor: 'null',
        constraints: '{}',
        tools: '[]',
        client_id: clientId,
        cost_micros: 0,
        last_event_id: 0,
        epoch: 0,
        cancel_requested: 0,
        created_at: new Date(0).toISOString(),
      } as never)
      .execute(),
  )
  return id
}
