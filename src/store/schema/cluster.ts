import { sql } from 'kysely'
import { isPostgres } from '../dialect.ts'
import type { Db } from '../store.ts'

/**
 * Lets SQLite keep the rows of these tables in their primary key instead of beside it: a commit writes whole pages, and
 * a row in one place is one page less. Only for small rows, because a search reads those that it passes to their end.
 * Their indexes are gone afterwards. PostgreSQL has no such tables.
 */
export async function cluster(db: Db, tables: Record<string, string>): Promise<void> {
  if (isPostgres(db)) return
  for (const [table, columns] of Object.entries(tables)) {
    await sql.raw(`alter table ${table} rename to ${table}_before`).execute(db)
    await sql.raw(`create table ${table} (${columns}) without rowid`).execute(db)
    await sql.raw(`insert into ${table} select * from ${table}_before`).execute(db)
    await sql.raw(`drop table ${table}_before`).execute(db)
  }
}

/** The tables as they were when they were clustered. */
export const LOGS = {
  rate_ring: 'project_id text not null, slot bigint not null, at bigint not null, primary key (project_id, slot)',
  events: `task_id text not null, seq bigint not null, type text not null, ts text not null, data text not null,
    primary key (task_id, seq)`,
  audit_entries: `chain text not null, seq bigint not null, ts text not null, actor_kind text not null,
    actor_id text not null, action text not null, subject text not null, data text not null, prev_hash text not null,
    hash text not null, primary key (chain, seq)`,
}

export const ARTIFACTS = {
  artifacts: `id text not null primary key, project_id text not null, task_id text not null, name text not null,
    content_type text not null, size bigint not null, created_at text not null`,
}

export const REPORTS = {
  report_runs: `project_id text not null, day text not null, wedge text not null, status text not null,
    runs bigint not null, cost_micros bigint not null, primary key (project_id, day, wedge, status)`,
  report_clients: `project_id text not null, span text not null, client_id text not null, runs bigint not null,
    cost_micros bigint not null, primary key (project_id, span, client_id)`,
  report_approvals: `project_id text not null, span text not null, status text not null, wait_ms bigint not null,
    n bigint not null, primary key (project_id, span, status, wait_ms)`,
}
