/**
 * The bytes that each project stores. `replaced_bytes` is the size of the value that the last write of a record replaced,
 * so that a write knows the difference without reading the record first. `counted_events` is the number of the last event
 * of a task that is counted: the rest of its log is counted when it ends.
 */
export const STORAGE_USAGE_STATEMENTS = [
  'create table storage_usage (project_id text primary key, bytes bigint not null)',
  'alter table records add column replaced_bytes bigint not null default 0',
  'alter table tasks add column counted_events bigint not null default 0',
  `insert into storage_usage (project_id, bytes)
    select project_id, cast(sum(bytes) as bigint) from (
      select project_id, octet_length(value) as bytes from records
      union all
      select tasks.project_id, octet_length(events.data) from events
        join tasks on tasks.id = events.task_id where tasks.finished_at is not null
      union all
      select artifacts.project_id, octet_length(artifact_files.content) from artifact_files
        join artifacts on artifacts.id = artifact_files.artifact_id) as stored
    group by project_id`,
]
