import { isPostgres } from '../dialect.ts'
import type { Db } from '../store.ts'

/** A reply that is shown in the portal or in the widget is an effect without a connection. */
export const effectsWithoutConnection = (db: Db): string[] =>
  isPostgres(db)
    ? ['alter table effects alter column connection_id drop not null, alter column connection drop not null']
    : [
        `create table new_effects (
          approval_id text primary key, project_id text not null, task_id text, connection_id text, connection text,
          action text not null, payload_sha256 text not null, outcome text not null, status bigint, error text,
          replica text not null, created_at text not null, finished_at text, result text)`,
        `insert into new_effects select approval_id, project_id, task_id, connection_id, connection, action,
          payload_sha256, outcome, status, error, replica, created_at, finished_at, result from effects`,
        'drop table effects',
        'alter table new_effects rename to effects',
        'create index effects_task on effects (task_id, approval_id)',
        "create index effects_open on effects (replica) where outcome = 'sent'",
      ]
