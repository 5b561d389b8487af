import { isPostgres } from '../dialect.ts'
import type { Db } from '../store.ts'

/**
 * Every table and index, as statements for one store. Both stores run the same text except for two phrases: `without rowid`
 * keeps small rows inside the primary key of SQLite, so that a commit writes fewer pages, and `collate "C"` makes
 * PostgreSQL sort text by its bytes, which SQLite does anyway.
 */
export function initialSchema(db: Db): string[] {
  const removed = isPostgres(db) ? / without rowid$/ : / collate "C"/g
  const tables = [
    ACCOUNT_TABLES,
    TASK_TABLES,
    APPROVAL_TABLES,
    CLIENT_TABLES,
    CASE_TABLES,
    REPORT_TABLES,
    WEBHOOK_TABLES,
  ]
  return tables.flatMap((ddl) => ddl.split(';')).map((statement) => statement.trim().replace(removed, ''))
}

const ACCOUNT_TABLES = `
  create table organisations (
    id text primary key, name text not null, created_at text not null, founding bigint);
  create unique index organisations_founding on organisations (founding);
  create table projects (
    id text primary key, org_id text not null references organisations(id), slug text not null, name text not null,
    tier text not null, wedges text, created_at text not null, unique (org_id, slug));
  create table members (
    id text primary key, org_id text not null references organisations(id), email text not null, name text,
    role text not null, password text, invite_hash text unique, invite_expires_at text, created_at text not null,
    unique (org_id, email));
  create unique index members_email on members (email) where password is not null;
  create table keys (
    id text primary key, project_id text not null references projects(id), name text not null, role text not null,
    hash text not null unique, hint text not null, created_at text not null, last_used_at text);
  create index keys_project on keys (project_id);
  create table sessions (
    hash text primary key, member_id text not null references members(id) on delete cascade,
    created_at text not null, expires_at text not null);
  create index sessions_member on sessions (member_id);
  create table login_failures (
    subject text not null, window_start text not null, count bigint not null, primary key (subject, window_start));
  create table replicas (id text primary key, started_at text not null, seen_at text not null)`

const TASK_TABLES = `
  create table tasks (
    id text primary key, project_id text not null references projects(id), wedge text not null,
    task_type text not null, status text not null, input text not null, actor text not null,
    constraints text not null, tools text not null, output_schema text, output text, error text,
    cost_micros bigint not null, client_id text, thread_id text, channel_id text, case_id text, schedule_id text,
    retry_of text, last_event_id bigint not null, epoch bigint not null, replica text,
    created_at text not null, started_at text, finished_at text, log_pruned_at text);
  create index tasks_project_wedge on tasks (project_id, wedge, id);
  create index tasks_status on tasks (status, project_id, id, replica);
  create index tasks_case on tasks (case_id, id) where case_id is not null;
  create index tasks_client on tasks (client_id, id) where client_id is not null;
  create index tasks_unpruned on tasks (finished_at) where finished_at is not null and log_pruned_at is null;
  create table idempotency_keys (
    project_id text not null, key text not null, body_hash text not null, task_id text not null,
    created_at text not null, primary key (project_id, key));
  create index idempotency_keys_age on idempotency_keys (created_at);
  create table rate_ring (
    project_id text not null, slot bigint not null, at bigint not null, primary key (project_id, slot)) without rowid;
  create table events (
    task_id text not null, seq bigint not null, type text not null, ts text not null, data text not null,
    primary key (task_id, seq)) without rowid;
  create table artifacts (
    id text primary key, project_id text not null, task_id text not null, name text not null,
    content_type text not null, size bigint not null, created_at text not null) without rowid;
  create index artifacts_task on artifacts (task_id, id);
  create table artifact_files (artifact_id text primary key, content text not null)`

const APPROVAL_TABLES = `
  create table approvals (
    id text primary key, project_id text not null, task_id text not null, wedge text not null,
    task_type text not null, action text not null, risk text not null, path text not null, payload text not null,
    payload_sha256 text not null, edited text, status text not null, policy_reason text, policy_rule text,
    reason text, note text, connection_id text, connection text, created_at text not null, expires_at text, decided_at text,
    decided_by_kind text, decided_by_id text);
  create index approvals_project on approvals (project_id, id);
  create index approvals_project_wedge on approvals (project_id, wedge, id);
  create index approvals_project_status on approvals (project_id, status, id);
  create index approvals_task on approvals (task_id, id);
  create index approvals_due on approvals (expires_at) where status = 'pending';
  create table effects (
    approval_id text primary key, project_id text not null, task_id text not null, connection_id text not null,
    connection text not null, action text not null, payload_sha256 text not null, outcome text not null,
    status bigint, error text, replica text not null, created_at text not null, finished_at text);
  create index effects_task on effects (task_id, approval_id);
  create index effects_open on effects (replica) where outcome = 'sent';
  create table policy_counters (
    project_id text not null, rule text not null, span text not null, used bigint not null,
    primary key (project_id, rule, span));
  create table connections (
    id text primary key, project_id text not null, owner_kind text not null, owner_id text not null,
    kind text not null, name text not null, config text not null, secret_ref text, pending_account text,
    last_ok_at text, last_error text, last_error_at text, created_at text not null, updated_at text not null,
    unique (project_id, owner_kind, owner_id, name));
  create table vault (
    project_id text not null, key text not null, connection_id text not null, kind text not null,
    envelope text not null, updated_at text not null, primary key (project_id, key))`

const CLIENT_TABLES = `
  create table channels (
    id text primary key, project_id text not null, connection_id text not null, address text not null,
    wedge text not null, task_type text not null, created_at text not null);
  create index channels_project on channels (project_id, id);
  create table clients (
    id text primary key, project_id text not null, display_name text, metadata text not null,
    created_at text not null, updated_at text not null);
  create index clients_project on clients (project_id, id);
  create table client_handles (
    project_id text not null, handle text not null, shown text not null, client_id text not null,
    primary key (project_id, handle));
  create index client_handles_client on client_handles (client_id);
  create table portal_links (
    hash text primary key, project_id text not null, client_id text not null, created_at text not null,
    expires_at text not null, used_at text, revoked_at text);
  create index portal_links_client on portal_links (client_id);
  create table client_sessions (
    hash text primary key, project_id text not null, client_id text not null, created_at text not null,
    expires_at text not null);
  create index client_sessions_client on client_sessions (client_id);
  create table threads (
    id text primary key, project_id text not null, channel_id text not null, client_id text not null, subject text,
    status text not null, message_count bigint not null default 0, created_at text not null,
    updated_at text not null);
  create index threads_project on threads (project_id, id);
  create index threads_client on threads (client_id, id);
  create unique index threads_open on threads (channel_id, client_id) where status = 'open';
  create table messages (
    id text primary key, n bigint not null default 0, project_id text not null, thread_id text not null,
    channel_id text not null, direction text not null, from_handle text, from_name text, body text not null, subject text, task_id text,
    external_id text, recipients text, created_at text not null, unique (channel_id, external_id));
  create index messages_thread on messages (thread_id, n);
  create table knowledge (
    id text primary key, project_id text not null, wedge text not null, name text not null, content text not null,
    kind text not null, source text, metadata text not null, task_id text, version bigint not null,
    created_at text not null, updated_at text not null);
  create index knowledge_wedge on knowledge (project_id, wedge, id);
  create table knowledge_revisions (
    knowledge_id text not null, project_id text not null, version bigint not null, name text not null,
    content text not null, kind text not null, by_kind text not null, by_id text not null, at text not null,
    primary key (knowledge_id, version));
  create table intake_questions (
    id text primary key, project_id text not null, wedge text not null, question_id text not null,
    question text not null, why text, kind text not null, status text not null, answer text, knowledge_id text,
    task_id text, asked bigint not null, created_at text not null, updated_at text not null,
    unique (project_id, wedge, question_id))`

const RECORD_COLUMNS = Array.from({ length: 64 }, (_, n) => `c${n} text collate "C"`).join(', ')

const CASE_TABLES = `
  create table cases (
    id text primary key, project_id text not null, wedge text not null, title text, stage text not null,
    status text not null, client_id text, data text not null, created_at text not null, updated_at text not null,
    closed_at text);
  create index cases_project on cases (project_id, id);
  create index cases_client on cases (client_id, id) where client_id is not null;
  create table case_history (
    case_id text not null, n bigint not null, from_stage text, to_stage text not null, at text not null,
    by_kind text not null, by_id text not null, note text, primary key (case_id, n));
  create table records (
    id text primary key, project_id text not null, wedge text not null, collection text not null, key text not null,
    value text not null, version bigint not null, created_at text not null, updated_at text not null,
    unique (project_id, wedge, collection, key));
  create index records_collection on records (project_id, wedge, collection, id);
  create table record_fields (
    record_id text not null, collection_hash text not null, wedge text not null, path text not null,
    sort_key text collate "C" not null, primary key (record_id, path));
  create index record_fields_key on record_fields (collection_hash, path, sort_key, record_id, wedge);
  create table record_paths (
    collection_hash text not null, path text not null, n bigint not null,
    primary key (collection_hash, path), unique (collection_hash, n));
  create table record_columns (
    collection_hash text not null, record_id text not null, wedge text not null, ${RECORD_COLUMNS},
    primary key (collection_hash, record_id)) without rowid;
  create table schedules (
    id text primary key, project_id text not null, name text not null, wedge text not null, task_type text not null,
    cadence text not null, input text not null, enabled bigint not null, client_id text, case_id text,
    blueprint text, anchor_at text not null, next_run_at text, last_run_at text, last_task_id text, last_error text,
    created_at text not null, updated_at text not null);
  create index schedules_project on schedules (project_id, id);
  create index schedules_due on schedules (next_run_at) where enabled = 1;
  create table schedule_slots (
    schedule_id text not null, slot text not null, task_id text, primary key (schedule_id, slot));
  create table blueprint_installs (
    project_id text not null, blueprint text not null, active bigint not null, created_at text not null,
    activated_at text, primary key (project_id, blueprint));
  create table audit_entries (
    chain text not null, seq bigint not null, ts text not null, actor_kind text not null, actor_id text not null,
    action text not null, subject text not null, data text not null, prev_hash text not null, hash text not null,
    primary key (chain, seq)) without rowid;
  create table audit_heads (chain text primary key, seq bigint not null, hash text not null, seal text);
  create table audit_checkpoints (
    chain text not null, seq bigint not null, hash text not null, at text not null, kid text not null,
    signature text not null, primary key (chain, seq))`

const REPORT_TABLES = `
  create table report_marks (
    project_id text not null, source text not null, folded_to text not null, primary key (project_id, source));
  create table report_open (
    project_id text not null, source text not null, id text not null, primary key (project_id, source, id));
  create table report_runs (
    project_id text not null, day text not null, wedge text not null, status text not null, runs bigint not null,
    cost_micros bigint not null, primary key (project_id, day, wedge, status)) without rowid;
  create table report_clients (
    project_id text not null, span text not null, client_id text not null, runs bigint not null,
    cost_micros bigint not null, primary key (project_id, span, client_id)) without rowid;
  create table report_approvals (
    project_id text not null, span text not null, status text not null, wait_ms bigint not null, n bigint not null,
    primary key (project_id, span, status, wait_ms)) without rowid`

const WEBHOOK_TABLES = `
  create table webhooks (
    id text primary key, project_id text not null, url text not null, events text not null, enabled bigint not null,
    previous_until text, created_at text not null, updated_at text not null);
  create index webhooks_project on webhooks (project_id, id);
  create table webhook_deliveries (
    webhook_id text not null, id text not null, project_id text not null, event text not null, subject text not null,
    status text not null, attempts bigint not null, next_at text, last_status bigint, last_error text,
    created_at text not null, delivered_at text, primary key (webhook_id, id));
  create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_at) where status = 'pending';
  create index webhook_deliveries_age on webhook_deliveries (created_at);
  create unique index webhook_deliveries_expiring on webhook_deliveries (webhook_id, subject)
    where event = 'approval.expiring'`
