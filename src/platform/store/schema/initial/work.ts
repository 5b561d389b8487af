/** Tasks with their logs, runs and files; records and cases. */
export const WORK_TABLES = `
  create table tasks (
    id text primary key, project_id text not null references projects(id), wedge text not null,
    task_type text not null, status text not null, input text not null, actor text not null,
    constraints text not null, tools text not null, output_schema text, output text, error text,
    cost_micros bigint not null, client_id text, thread_id text, channel_id text, case_id text, schedule_id text,
    retry_of text, last_event_id bigint not null, epoch bigint not null, replica text, created_at text not null,
    started_at text, finished_at text, log_pruned_at text, counted_events bigint not null default 0, ready_at text,
    requested_by_kind text, requested_by_id text, traceparent text, tracestate text);
  create index tasks_status on tasks (status, project_id, id, replica, wedge);
  create index tasks_case on tasks (case_id, id) where case_id is not null;
  create index tasks_client on tasks (client_id, id) where client_id is not null;
  create index tasks_unpruned on tasks (finished_at) where finished_at is not null and log_pruned_at is null;
  create index tasks_project on tasks (project_id, id);
  create index tasks_project_wedge on tasks (project_id, wedge, id);
  create index tasks_released on tasks (id) where status = 'running' and replica is null;
  create index tasks_retry on tasks (retry_of) where retry_of is not null;
  create index tasks_thread on tasks (thread_id, status) where thread_id is not null;
  create index tasks_expired on tasks (project_id, finished_at, id) where status = 'expired';
  create table idempotency_keys (
    project_id text not null, key text not null, body_hash text not null, task_id text not null,
    created_at text not null, primary key (project_id, key));
  create index idempotency_keys_age on idempotency_keys (created_at);
  create table events (
    task_id text not null, seq bigint not null, type text not null, ts text not null, data text not null,
    primary key (task_id, seq)) without rowid;
  create table transcripts (
    task_id text not null, seq bigint not null, entries text not null, primary key (task_id, seq)) without rowid;
  create table run_states (
    task_id text primary key, is_resumable bigint not null, brief text not null, checkpoint text,
    requests text not null, spent_micros bigint not null, read_count bigint not null, gap_count bigint not null,
    stored_bytes bigint not null, worked_ms bigint not null, resumes bigint not null);
  create table artifacts (
    id text primary key, project_id text not null, task_id text not null, name text not null,
    content_type text not null, size bigint not null, created_at text not null,
    storage text not null default 'database') without rowid;
  create index artifacts_task on artifacts (task_id, id);
  create table artifact_files (artifact_id text primary key, content text not null);
  create table files (
    id text primary key, project_id text not null, client_id text, name text not null, content_type text not null,
    size bigint not null, sha256 text not null, state text not null, storage text not null, upload_id text,
    created_by text not null, created_at text not null);
  create index files_project on files (project_id, id);
  create index files_client on files (client_id, id) where client_id is not null;
  create index files_unfinished on files (state, created_at) where state <> 'stored';
  create table file_chunks (
    file_id text not null, n bigint not null, content text not null, primary key (file_id, n));
  create table task_files (
    task_id text not null, n bigint not null, file_id text not null, primary key (task_id, n));
  create index task_files_file on task_files (file_id);
  create table cases (
    id text primary key, project_id text not null, wedge text not null, title text, stage text not null,
    status text not null, client_id text, data text not null, created_at text not null, updated_at text not null,
    closed_at text, thread_id text, assignee_id text);
  create index cases_client on cases (client_id, id) where client_id is not null;
  create index cases_thread on cases (thread_id, id) where thread_id is not null;
  create index cases_project on cases (project_id, id, wedge, status, stage, assignee_id);
  create table case_history (
    case_id text not null, n bigint not null, from_stage text, to_stage text not null, at text not null,
    by_kind text not null, by_id text not null, note text, primary key (case_id, n));
  create table records (
    id text primary key, project_id text not null, wedge text not null, collection text not null, key text not null,
    value text not null, version bigint not null, created_at text not null, updated_at text not null,
    replaced_bytes bigint not null default 0, unique (project_id, wedge, collection, key));
  create index records_collection on records (project_id, wedge, collection, id);
  create index records_project on records (project_id, id, wedge, collection, key);
  create table record_fields (
    record_id text not null, project_id text not null, collection text not null, path text not null,
    sort_key text collate "C" not null, primary key (record_id, path)) without rowid;
  create index record_fields_key on record_fields (project_id, path, sort_key, record_id, collection)`
