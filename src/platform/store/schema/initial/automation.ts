/** Knowledge, schedules, blueprints, webhooks, and the sums of the reports. */
export const AUTOMATION_TABLES = `
  create table knowledge (
    id text primary key, project_id text not null, wedge text not null, name text not null, content text not null,
    kind text not null, source text, metadata text not null, task_id text, version bigint not null,
    created_at text not null, updated_at text not null);
  create index knowledge_wedge on knowledge (project_id, wedge, id);
  create index knowledge_updated on knowledge (project_id, wedge, updated_at, id);
  create table knowledge_revisions (
    knowledge_id text not null, project_id text not null, version bigint not null, name text not null,
    content text not null, kind text not null, by_kind text not null, by_id text not null, at text not null,
    primary key (knowledge_id, version));
  create table intake_questions (
    id text primary key, project_id text not null, wedge text not null, question_id text not null,
    question text not null, why text, kind text not null, status text not null, answer text, knowledge_id text,
    task_id text, asked bigint not null, created_at text not null, updated_at text not null,
    unique (project_id, wedge, question_id));
  create index intake_questions_newest on intake_questions (project_id, wedge, kind, created_at, id);
  create index intake_questions_knowledge on intake_questions (knowledge_id) where knowledge_id is not null;
  create index intake_questions_open on intake_questions (project_id, created_at)
    where status = 'open' and asked > 0;
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
  create table webhooks (
    id text primary key, project_id text not null, url text not null, events text not null, enabled bigint not null,
    previous_until text, created_at text not null, updated_at text not null);
  create index webhooks_project on webhooks (project_id, id);
  create table webhook_deliveries (
    webhook_id text not null, id text not null, project_id text not null, event text not null,
    subject text not null, status text not null, attempts bigint not null, next_at text, last_status bigint,
    last_error text, created_at text not null, delivered_at text, primary key (webhook_id, id));
  create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_at) where status = 'pending';
  create index webhook_deliveries_age on webhook_deliveries (created_at);
  create unique index webhook_deliveries_expiring on webhook_deliveries (webhook_id, subject)
    where event = 'approval.expiring';
  create index webhook_deliveries_failed on webhook_deliveries (webhook_id, id) where status = 'failed';
  create table report_runs (
    project_id text not null, day text not null, wedge text not null, status text not null, runs bigint not null,
    cost_micros bigint not null, primary key (project_id, day, wedge, status)) without rowid;
  create table report_clients (
    project_id text not null, period text not null, client_id text not null, runs bigint not null,
    cost_micros bigint not null, primary key (project_id, period, client_id)) without rowid;
  create table report_approvals (
    project_id text not null, period text not null, status text not null, wait_ms bigint not null, n bigint not null,
    primary key (project_id, period, status, wait_ms)) without rowid`
