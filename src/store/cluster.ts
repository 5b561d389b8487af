import { sql } from 'kysely'
import { isPostgres } from './dialect.ts'
import type { Db } from './store.ts'

/**
 * Lets SQLite keep the rows of these tables in their primary key instead of beside it: a commit writes whole pages, and
 * a row in one place is one page less. PostgreSQL has no such tables.
 */
export async function cluster(db: Db): Promise<void> {
  if (isPostgres(db)) return
  for (const [table, columns] of Object.entries(TABLES)) {
    await sql.raw(`alter table ${table} rename to ${table}_before`).execute(db)
    await sql.raw(`create table ${table} (${columns}) without rowid`).execute(db)
    await sql.raw(`insert into ${table} select * from ${table}_before`).execute(db)
    await sql.raw(`drop table ${table}_before`).execute(db)
  }
}

const TABLES = {
  rate_ring: 'project_id text not null, slot bigint not null, at bigint not null, primary key (project_id, slot)',
  events: `task_id text not null, seq bigint not null, type text not null, ts text not null, data text not null,
    primary key (task_id, seq)`,
  audit_entries: `chain text not null, seq bigint not null, ts text not null, actor_kind text not null,
    actor_id text not null, action text not null, subject text not null, data text not null, prev_hash text not null,
    hash text not null, primary key (chain, seq)`,
}
