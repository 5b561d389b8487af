import { join } from 'node:path'
import { type CompiledQuery, sql } from 'kysely'
import { expect, test } from 'vitest'
import { loadSqlite } from '../../../src/platform/store/sqlite/load-sqlite/load-sqlite.ts'
import type { Db } from '../../../src/platform/store/store.ts'
import { listTasks } from '../../../src/work/tasks/rows.ts'
import { seedStore } from '../../../bench/seed/seed-store.ts'
import { eachStore, testApp } from '../../app.ts'

/** Every list with its filters. A filter that no row matches is the one that could read all rows. */
const LISTS = {
  tasks: {
    status: 'cancelled',
    wedge: 'none',
    client_id: 'cli_none',
    case_id: 'case_none',
    expired_since: '2026-01-01T00:00:00Z',
  },
  approvals: {
    status: 'expired',
    wedge: 'none',
    task_id: 'task_none',
    path: 'action',
    assignee: 'mem_none',
    held: 'me',
  },
  cases: {
    wedge: 'none',
    status: 'closed',
    stage: 'none',
    client_id: 'cli_none',
    thread_id: 'thr_none',
    assignee_id: 'mem_none',
  },
  clients: { handle: 'none' },
  threads: { client_id: 'cli_none', channel_id: 'chan_none', status: 'closed', held_by: 'me', unread: 'true' },
  connections: { kind: 'webhook', client_id: 'cli_none' },
  records: { wedge: 'none', collection: 'none', key: 'none' },
  schedules: { wedge: 'none' },
  channels: {},
  webhooks: {},
  audit: { action: 'none', subject: 'none' },
  'wedges/echo/knowledge': { kind: 'fact' },
  'wedges/echo/intake': {},
}

const PATHS = Object.entries(LISTS).flatMap(([list, filters]) =>
  Object.entries(filters)
    .reduce<string[][]>((sets, [name, value]) => [...sets, ...sets.map((set) => [...set, `${name}=${value}`])], [[]])
    .map((set) => `/v1/${list}?${set.join('&')}`),
)

test('SQLite: every list with every combination of filters searches an index by all its conditions', async () => {
  const app = await testApp({ store: 'sqlite', env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
  const statements = recordStatements(app.ctx.store.lists)
  for (const path of PATHS) expect((await app.call('GET', path)).status, path).toBe(200)
  const database = new (loadSqlite().DatabaseSync)(join(app.ctx.config.dataDir, 'svc.db'))
  const slow = [...statements.keys()].filter((text) => {
    const plan = database
      .prepare(`explain query plan ${text}`)
      .all()
      .map((step) => (step as { detail: string }).detail)
    return readsAllRows(text, plan)
  })
  database.close()
  expect(slow).toEqual([])
})

const GROWING =
  '(tasks|approvals|cases|clients|threads|connections|records|channels|audit_entries|knowledge|intake_questions)'

/** Whether a list reads rows that it then drops: by a scan, by sorting, or by a condition that the index does not have. */
function readsAllRows(text: string, plan: readonly string[]): boolean {
  if (!new RegExp(`^select .* from "${GROWING}" .*limit`).test(text)) return false
  const conditions = [...text.matchAll(/"(\w+)" = (?:\?|'\w+')/g)].map(([, column]) => column)
  const searched = plan.flatMap((step) => [...step.matchAll(/(\w+)=\?/g)].map(([, column]) => column))
  const isSorted = !text.includes(' in (select') && plan.some((step) => step.includes('TEMP B-TREE'))
  return (
    isSorted ||
    plan.some((step) => new RegExp(`^SCAN ${GROWING}`).test(step)) ||
    conditions.some((column) => !searched.includes(column))
  )
}

test('PostgreSQL: every list with a filter follows the order of an index and stops when the page is full', async () => {
  const app = await testApp({ store: 'postgres', env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
  await seedStore(app.ctx.store, 0, 2_000)
  const statements = recordStatements(app.ctx.store.lists)
  const filters = Object.entries(LISTS).flatMap(([list, values]) =>
    Object.entries(values).map(([name, value]) => `/v1/${list}?${name}=${value}`),
  )
  for (const path of [...filters, '/v1/threads?order=activity&status=closed', '/v1/threads?order=activity&unread=true'])
    expect((await app.call('GET', path)).status, path).toBe(200)
  const searches = [...statements.values()].filter(({ sql: text }) => text.includes('case when'))
  expect(searches.length).toBeGreaterThan(10)
  const sorting = await app.ctx.store.transact(async (db) => {
    // These tables are so small that reading and sorting all rows would cost less.
    for (const name of ['enable_seqscan', 'enable_bitmapscan']) await sql.raw(`set local ${name} = off`).execute(db)
    const found: string[] = []
    for (const query of searches) {
      const { rows } = await db.executeQuery<{ 'QUERY PLAN': string }>({ ...query, sql: `explain ${query.sql}` })
      const plan = rows.map((row) => row['QUERY PLAN'])
      // Above the limit, the rows of one page may be sorted.
      const search = plan.slice(plan.findIndex((step) => step.includes('Limit')))
      if (search.some((step) => /\bSort\b|Seq Scan/.test(step))) found.push(query.sql)
    }
    return found
  })
  expect(sorting).toEqual([])
})

/** All statements that Kysely executes from now on, by their text. */
function recordStatements(db: Db): Map<string, CompiledQuery> {
  const executor = db.getExecutor()
  const execute = executor.executeQuery.bind(executor)
  const statements = new Map<string, CompiledQuery>()
  executor.executeQuery = (query) => {
    statements.set(query.sql, query)
    return execute(query)
  }
  return statements
}

eachStore((store) => {
  test('a filter without an index finds its rows in pages', async () => {
    const app = await testApp({ store, env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
    await seedStore(app.ctx.store, 0, 6_000)
    const { db } = app.ctx
    const { id: projectId } = await db
      .selectFrom('projects')
      .select('id')
      .orderBy('created_at')
      .executeTakeFirstOrThrow()
    await db.updateTable('tasks').set({ client_id: 'cli_1', project_id: projectId }).execute()
    const failed = await db.selectFrom('tasks').select('id').where('status', '=', 'failed').execute()
    const found: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await app.call('GET', `/v1/tasks?client_id=cli_1&status=failed&limit=150${cursor}`)
      found.push(...body.data.map(({ id }: { id: string }) => id))
      cursor = body.next_cursor && `&cursor=${body.next_cursor}`
    }
    expect(found).toEqual(
      failed
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
    )
    expect(
      await listTasks(app.ctx.store.lists, [projectId], { client_id: 'cli_1', status: 'queued', limit: 50 }),
    ).toEqual([])
  })
})
