import { sql } from 'kysely'
import type { Db } from '../../src/platform/store/store.ts'

/** The sums that the service writes when a task ends or an approval is decided, of seeded tasks. */
export async function insertReportSums(db: Db, ids: { first: string; last: string }): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(db)
  const added = (table: string, columns: string[]) =>
    `do update set ${columns.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join(', ')}`
  const between = (prefix: string) =>
    `id >= '${ids.first.replace('task', prefix)}' and id <= '${ids.last.replace('task', prefix)}'`
  await run(`insert into report_runs (project_id, day, wedge, status, runs, cost_micros)
    select project_id, substr(created_at, 1, 10), wedge, status, count(*), sum(cost_micros) from tasks
    where ${between('task')} and finished_at is not null group by 1, 2, 3, 4
    on conflict (project_id, day, wedge, status) ${added('report_runs', ['runs', 'cost_micros'])}`)
  for (const length of [10, 7]) {
    await run(`insert into report_clients (project_id, period, client_id, runs, cost_micros)
      select project_id, substr(created_at, 1, ${length}), client_id, count(*), sum(cost_micros) from tasks
      where ${between('task')} and finished_at is not null and client_id is not null group by 1, 2, 3
      on conflict (project_id, period, client_id) ${added('report_clients', ['runs', 'cost_micros'])}`)
    await run(`insert into report_approvals (project_id, period, status, wait_ms, n)
      select project_id, substr(created_at, 1, ${length}), status,
        case when status in ('approved', 'rejected') then 1000 else -1 end, count(*) from approvals
      where ${between('apr')} and status <> 'pending' and path <> 'question' group by 1, 2, 3, 4
      on conflict (project_id, period, status, wait_ms) ${added('report_approvals', ['n'])}`)
  }
}
