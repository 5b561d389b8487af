import { type Kysely, type Migration, Migrator, sql } from 'kysely'
import { ARTIFACTS, cluster, LOGS, REPORTS } from './cluster.ts'
import { byteOrderCollation } from '../dialect.ts'
import { fillColumns } from './fill-columns.ts'
import { ACCOUNTS, GATE, PEOPLE, SURFACE, TASKS } from './first-tables.ts'
import type { Tables } from '../tables.ts'

/** Brings the store to the newest schema. Kysely's own lock lets one replica at a time do it. */
export async function migrateStore(db: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } })
  const { error } = await migrator.migrateToLatest()
  if (error) throw error
}

/** Statements must mean the same on both stores; `text`, `bigint` and `double precision` do. */
function statements(ddl: string): Migration {
  return {
    async up(db) {
      for (const statement of ddl.split(';').map((part) => part.trim())) {
        if (statement) await sql.raw(statement).execute(db)
      }
    },
  }
}

export const MIGRATIONS: Record<string, Migration> = {
  '0001_accounts': statements(ACCOUNTS),
  '0002_tasks': statements(TASKS),
  '0003_gate': statements(GATE),
  '0004_people': statements(PEOPLE),
  '0005_surface': statements(SURFACE),
  '0006_founding_organisation': statements(`
    alter table organisations add column founding bigint;
    create unique index organisations_founding on organisations (founding)`),

  '0007_thread_order': statements(`
    alter table threads add column message_count bigint not null default 0;
    alter table messages add column n bigint not null default 0;
    alter table messages add column recipients text;
    drop index messages_thread;
    create index messages_thread on messages (thread_id, n)`),

  '0008_record_fields': {
    async up(db) {
      const ddl = statements(`
        create table record_fields (
          record_id text not null, shelf text not null, wedge text not null, path text not null,
          sort_key text ${byteOrderCollation(db)} not null, primary key (record_id, path));
        create index record_fields_key on record_fields (shelf, path, sort_key, record_id, wedge);
        create index record_fields_newest on record_fields (shelf, path, record_id, sort_key, wedge)`)
      await ddl.up(db)
    },
  },

  '0009_report_sums': statements(`
    create table report_marks (
      project_id text not null, source text not null, folded_to text not null, primary key (project_id, source));
    create table report_open (
      project_id text not null, source text not null, id text not null, primary key (project_id, source, id));
    create table report_runs (
      project_id text not null, day text not null, wedge text not null, status text not null, runs bigint not null,
      cost_micros bigint not null, primary key (project_id, day, wedge, status));
    create table report_clients (
      project_id text not null, span text not null, client_id text not null, runs bigint not null,
      cost_micros bigint not null, primary key (project_id, span, client_id));
    create table report_approvals (
      project_id text not null, span text not null, status text not null, wait_ms bigint not null, n bigint not null,
      primary key (project_id, span, status, wait_ms))`),

  '0010_webhooks': statements(`
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
      where event = 'approval.expiring'`),

  '0011_retention': statements(`
    alter table tasks add column log_pruned_at text;
    create index tasks_unpruned on tasks (finished_at) where finished_at is not null and log_pruned_at is null`),

  // Rows that 0016 takes away again; a store must still know that it was here.
  '0012_record_shapes': { up: async () => {} },

  '0013_lists': statements(`
    create index tasks_project_wedge on tasks (project_id, wedge, id);
    create index approvals_project_wedge on approvals (project_id, wedge, id);
    drop index tasks_case;
    create index tasks_case on tasks (case_id, id) where case_id is not null`),

  '0014_fewer_pages': {
    async up(db) {
      const ddl = statements(`
        create index tasks_status on tasks (status, project_id, id, replica);
        drop index tasks_project_status;
        drop index tasks_queue;
        drop index tasks_active;
        drop table rate_heads`)
      await ddl.up(db)
      await cluster(db, LOGS)
    },
  },

  '0015_files_apart': {
    async up(db) {
      const ddl = statements(`
        create table artifact_files (artifact_id text primary key, content text not null);
        insert into artifact_files select id, content from artifacts where content is not null;
        drop index artifacts_task;
        alter table artifacts drop column content;
        drop index tasks_project`)
      await ddl.up(db)
      await cluster(db, ARTIFACTS)
      await sql`create index artifacts_task on artifacts (task_id, id)`.execute(db)
    },
  },

  '0016_record_columns': { up: fillColumns },

  '0017_sealed_heads': statements('alter table audit_heads add column seal text'),

  '0018_report_years': {
    async up(db) {
      const fill = statements(`
        insert into report_clients
          select project_id, substr(span, 1, 4), client_id, sum(runs), sum(cost_micros) from report_clients
          where length(span) = 7 group by project_id, substr(span, 1, 4), client_id;
        insert into report_approvals
          select project_id, substr(span, 1, 4), status, wait_ms, sum(n) from report_approvals
          where length(span) = 7 group by project_id, substr(span, 1, 4), status, wait_ms`)
      await fill.up(db)
      await cluster(db, REPORTS)
    },
  },

  '0019_approval_connection': statements('alter table approvals add column connection text'),

  // SQLite takes no constraint away from a table that is there, so the table is made anew, with the one that names it.
  '0020_open_invites': statements(`
    create table members_new (
      id text primary key, org_id text not null references organisations(id), email text not null, name text,
      role text not null, password text, invite_hash text unique, invite_expires_at text, created_at text not null,
      unique (org_id, email));
    insert into members_new select
      id, org_id, email, name, role, password, invite_hash, invite_expires_at, created_at from members;
    create table sessions_new (
      hash text primary key, member_id text not null references members_new(id) on delete cascade,
      created_at text not null, expires_at text not null);
    insert into sessions_new select hash, member_id, created_at, expires_at from sessions;
    drop table sessions;
    drop table members;
    alter table members_new rename to members;
    alter table sessions_new rename to sessions;
    create unique index members_email on members (email) where password is not null;
    create index sessions_member on sessions (member_id)`),
}
