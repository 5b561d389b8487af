import { sql } from 'kysely'
import type { Db, Store } from '../src/store/store.ts'

const PAGE = 10_000
const SPREAD_MS = 90 * 24 * 60 * 60_000

/**
 * Inserts finished tasks of the last ninety days with their logs, artifacts and approvals. A million tasks take one or two
 * minutes. Their ids sort before new ids, and the report sums are marked as complete.
 */
export async function seedTasks(store: Store, from: number, to: number): Promise<void> {
  const project = (await store.db.selectFrom('projects').select('id').executeTakeFirstOrThrow()).id
  const start = Date.now() - SPREAD_MS
  for (let at = from; at < to; at += PAGE) {
    const last = Math.min(to, at + PAGE)
    const created = new Date(start + (SPREAD_MS * at) / to).toISOString()
    await store.transact(async (db) => {
      for (const insert of [TASKS, EVENTS, ARTIFACTS, APPROVALS])
        await insertRows(db, insert, at, last - 1, project, created)
    })
  }
  await store.transact((db) => markSummedUp(db, project, to))
  if (store.kind === 'postgres') await sql`analyze`.execute(store.db)
}

export const seededTaskId = (n: number) => `task_00000000000000${100_000_000_000 + n}`

/** Inserts rows for the numbers `first` to `last`, with SQL that both stores understand. */
async function insertRows(
  db: Db,
  insert: string,
  first: number,
  last: number,
  project: string,
  at: string,
): Promise<void> {
  const numbers = `with recursive n(i) as (select ${first} union all select i + 1 from n where i < ${last})`
  await sql.raw(insert.replace('NUMBERS', numbers).replaceAll('PROJECT', project).replaceAll('AT', at)).execute(db)
}

const id = (prefix: string) => `'${prefix}_00000000000000' || cast(100000000000 + i as text)`

const TASKS = `
  insert into tasks (id, project_id, wedge, task_type, status, input, actor, constraints, tools, output, cost_micros,
    last_event_id, epoch, replica, created_at, started_at, finished_at)
  NUMBERS select ${id('task')}, 'PROJECT', 'bench', 'say', case when i % 10 = 0 then 'failed' else 'succeeded' end,
    '{"text":"hello"}', 'null', '{"max_runtime_s":1800,"max_cost_usd":5,"approval_required":false}', '[]',
    '{"said":{"text":"hello"}}', i % 997, 5, 1, 'rep_before', 'AT', 'AT', 'AT' from n`

const EVENTS = `
  insert into events (task_id, seq, type, ts, data)
  NUMBERS select ${id('task')}, seq, type, 'AT', data from n cross join (
    select 1 as seq, 'task.created' as type,
      '{"wedge":"bench","task_type":"say","status":"running","sandbox":"bwrap","model":"rehearsal"}' as data
    union all select 2, 'step.started', '{"step":1,"label":"Turn 1"}'
    union all select 3, 'output.validated', '{"ok":true,"errors":[]}'
    union all select 4, 'artifact.created', '{"artifact_id":"art","name":"output.json","size":26,"url":"/v1/artifacts/art"}'
    union all select 5, 'task.finished', '{"status":"succeeded","duration_ms":12}') as said`

const ARTIFACTS = `
  insert into artifacts (id, project_id, task_id, name, content_type, size, created_at)
  NUMBERS select ${id('art')}, 'PROJECT', ${id('task')}, 'output.json', 'application/json', 26, 'AT' from n`

const APPROVALS = `
  insert into approvals (id, project_id, task_id, wedge, task_type, action, risk, path, payload, payload_sha256, status,
    created_at, decided_at, decided_by_kind, decided_by_id)
  NUMBERS select ${id('apr')}, 'PROJECT', ${id('task')}, 'bench', 'say', 'records_get', 'low', 'tool', '{}', '00',
    'approved', 'AT', 'AT', 'key', 'key_before' from n where i % 10 = 0`

/** Marks the tasks and approvals as summed up, because the report sums are not part of the benchmark. */
async function markSummedUp(db: Db, project_id: string, count: number): Promise<void> {
  for (const source of ['tasks', 'approvals'] as const) {
    const folded_to = source === 'tasks' ? seededTaskId(count) : seededTaskId(count).replace('task', 'apr')
    await db
      .insertInto('report_marks')
      .values({ project_id, source, folded_to })
      // A mark never moves back, because rows behind it would be summed up twice.
      .onConflict((conflict) =>
        conflict
          .columns(['project_id', 'source'])
          .doUpdateSet({ folded_to })
          .where('report_marks.folded_to', '<', folded_to),
      )
      .execute()
  }
}
