import { isPostgres } from '../dialect.ts'
import type { Db } from '../store.ts'

/**
 * `transcripts` has the conversations of runs. `run_states` has what another process needs to continue a run that waits
 * for a person or may be resumed; `effects.result` has what its actions returned. `tasks_released` finds tasks that no replica holds and that can continue.
 */
export const runStateStatements = (db: Db): string[] => [
  `create table transcripts (
    task_id text not null, seq bigint not null, entries text not null, primary key (task_id, seq))${isPostgres(db) ? '' : ' without rowid'}`,
  `create table run_states (
    task_id text primary key, is_resumable bigint not null, brief text not null, checkpoint text,
    requests text not null, spent_micros bigint not null, read_count bigint not null, gap_count bigint not null,
    stored_bytes bigint not null, worked_ms bigint not null, resumes bigint not null)`,
  'alter table effects add column result text',
  "create index tasks_released on tasks (id) where status = 'running' and replica is null",
]
