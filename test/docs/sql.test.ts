import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listViews } from '../../scripts/table-comments.mjs'
import { seededTaskId, seedStore } from '../../bench/seed/seed-store.ts'
import { openPostgresStore } from '../../src/platform/store/postgres/postgres-store.ts'
import type { Store } from '../../src/platform/store/store.ts'
import { createDatabase, dropDatabase } from '../postgres.ts'
import { blocks, page } from './pages.ts'

const PAGE = 'docs/sql.md'
/** Roles belong to the whole server, so each run has its own. */
const SUFFIX = randomBytes(4).toString('hex')
const SERVICE_ROLE = `svc_${SUFFIX}`
const READING_ROLE = `analyst_${SUFFIX}`

const statements = blocks(page(PAGE), 'sql').map((text) =>
  text.replaceAll(/\banalyst\b/g, READING_ROLE).replaceAll(/\bfor role svc\b/g, `for role ${SERVICE_ROLE}`),
)
const [roleStatements = ''] = statements.filter((text) => text.includes('create role'))
const queries = statements.filter((text) => text !== roleStatements)

let admin: pg.Client
let analyst: pg.Client
let serviceUrl: string
let store: Store

beforeAll(async () => {
  const url = await createDatabase()
  admin = await connectAs(url)
  const database = new URL(url).pathname.slice(1)
  await admin.query(`create role ${SERVICE_ROLE} login; alter database ${database} owner to ${SERVICE_ROLE}`)
  serviceUrl = withUser(url, SERVICE_ROLE)
  store = await openPostgresStore(serviceUrl, () => {})
  await seed(store)
  await admin.query(roleStatements)
  analyst = await connectAs(withUser(url, READING_ROLE))
})

afterAll(async () => {
  await store?.close()
  await analyst?.end()
  await admin?.end()
  await dropDatabase(serviceUrl.replace(`${SERVICE_ROLE}@`, 'postgres@'))
  const server = await connectAs(withPath(serviceUrl.replace(`${SERVICE_ROLE}@`, 'postgres@'), '/postgres'))
  await server.query(`drop role ${READING_ROLE}; drop role ${SERVICE_ROLE}`)
  await server.end()
})

test('the list of views is the one that `npm run table-comments` writes', () => {
  expect(page(PAGE)).toBe(listViews(page(PAGE)))
})

test.each(queries.map((query) => [query.slice(0, 60), query]))('the role can run %s …', async (_, query) => {
  const { rows } = await analyst.query(query)
  expect(rows.length).toBeGreaterThan(0)
})

test('the role sees the views and nothing else, and changes nothing', async () => {
  await expect(analyst.query('select 1 from public.tasks')).rejects.toThrow('permission denied for table tasks')
  await expect(analyst.query('select envelope from vault')).rejects.toThrow('does not exist')
  await expect(analyst.query('delete from tasks')).rejects.toThrow(/read-only|permission denied/)
  await analyst.query('set default_transaction_read_only = off')
  for (const statement of [
    'delete from tasks',
    `update tasks set status = 'queued'`,
    'create view readable.mine as select 1',
    `comment on view tasks is 'mine'`,
    `set role ${SERVICE_ROLE}`,
  ])
    await expect(analyst.query(statement), statement).rejects.toThrow(/permission denied|must be owner/)
  await analyst.query('reset default_transaction_read_only')
})

test('the role can read views that a later version makes again', async () => {
  await admin.query(`drop view readable.tasks; comment on schema readable is 'earlier'`)
  await (await openPostgresStore(serviceUrl, () => {})).close()
  expect((await analyst.query('select count(*) from tasks')).rows).not.toEqual([{ count: 0 }])
})

test.each([
  ['tasks by id', `select * from tasks where id = '${seededTaskId(7)}'`, /Index Scan using tasks_pkey/],
  [
    'tasks by project and wedge',
    `select * from tasks where project_id = 'prj_1' and wedge = 'rare' and status = 'failed'`,
    /Index Scan using tasks_\w+ .*Index Cond: \(\(project_id = 'prj_1'/,
  ],
  [
    'events by task',
    `select * from events where task_id = '${seededTaskId(7)}'`,
    /^Index Scan using events_pkey on [^>]*$/,
  ],
  [
    'a join on the task',
    `select * from approvals a join tasks t on t.id = a.task_id where a.id = 'apr_waiting'`,
    /Index Scan using approvals_pkey .*Index Scan using tasks_pkey/,
  ],
])('the index is used for %s', async (_, query, plan) => {
  const { rows } = await analyst.query<{ 'QUERY PLAN': string }>(`explain ${query}`)
  expect(rows.map((row) => row['QUERY PLAN'].trim()).join(' ')).toMatch(plan)
})

test('JSON that jsonb cannot hold appears as text, and other rows of the query are not affected', async () => {
  const { rows } = await analyst.query(`select data from events where task_id = 'task_new' order by seq`)
  expect(rows.map(({ data }) => data)).toEqual([
    expect.objectContaining({ model: 'm', cost_usd: 0.5 }),
    '{"text":"a\\u0000b"}',
  ])
})

const withUser = (url: string, user: string) => url.replace('postgres@', `${user}@`)

function withPath(url: string, path: string): string {
  const changed = new URL(url)
  changed.pathname = path
  return changed.href
}

async function connectAs(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}

/** Many old tasks, so that an index is worth its while, and a row for each query of the page. */
async function seed({ db }: Store): Promise<void> {
  const at = new Date().toISOString()
  for (const statement of [
    `insert into organisations (id, name, created_at) values ('org_1', 'O', '${at}')`,
    `insert into projects (id, org_id, slug, name, tier, created_at) values ('prj_1', 'org_1', 'p', 'P', 'free', '${at}')`,
    `insert into storage_usage values ('prj_1', 4096)`,
    `insert into clients values ('cli_1', 'prj_1', 'Ada', '{}', '${at}', '${at}')`,
    `insert into tasks (id, project_id, wedge, task_type, status, input, actor, constraints, tools, error, cost_micros,
      client_id, last_event_id, epoch, created_at, finished_at) values ('task_new', 'prj_1', 'desk', 't', 'failed',
      '{}', 'null', '{}', '[]', '{"reason":"agent_failed"}', 500000, 'cli_1', 2, 1, '${at}', '${at}')`,
    `insert into events values ('task_new', 1, 'cost.charged', '${at}',
      '{"model":"m","input_tokens":3,"output_tokens":4,"cost_usd":0.5}')`,
    `insert into events values ('task_new', 2, 'progress', '${at}', '{"text":"a\\u0000b"}')`,
    ...['pending', 'approved'].map(
      (status) => `insert into approvals (id, project_id, task_id, wedge, task_type, action, risk, path, payload,
        payload_sha256, status, created_at, decided_at, decided_by_kind) values ('apr_${status === 'pending' ? 'waiting' : 'done'}',
        'prj_1', 'task_new', 'desk', 't', 'send_email', 'high', 'action', '{}', 'h', '${status}', '${at}',
        ${status === 'pending' ? 'null, null' : `'${at}', 'member'`})`,
    ),
    `insert into effects (id, project_id, task_id, connection_id, connection, action, payload_sha256, outcome,
      replica, created_at) values ('apr_done', 'prj_1', 'task_new', 'c', 'mail', 'send_email', 'h', 'unknown', 'r', '${at}')`,
    `insert into threads (id, project_id, channel_id, client_id, status, unanswered_at, unanswered_reason, created_at,
      updated_at) values ('thr_1', 'prj_1', 'c', 'cli_1', 'open', '${at}', 'failed', '${at}', '${at}')`,
  ])
    await sql.raw(statement).execute(db)
  await seedStore(store, 0, 3_000)
}
