import { type Kysely, type Migration, Migrator, sql } from 'kysely'
import { errorMessage } from '../../base/error-message.ts'
import { isPostgres } from '../dialect.ts'
import type { Db } from '../store.ts'
import type { Tables } from '../tables.ts'
import { APPROVAL_PEOPLE_STATEMENTS } from './approval-people.ts'
import { BRAND_STATEMENTS } from './brand.ts'
import { conversationStatements } from './conversations.ts'
import { effectsWithoutConnection } from './effects-without-connection.ts'
import { FILE_STATEMENTS } from './files.ts'
import { filterIndexStatements, unreadAndPathIndexes } from './filter-indexes.ts'
import { initialSchema } from './initial-schema.ts'
import { MCP_OAUTH_STATEMENTS } from './mcp-oauth.ts'
import { partitionEvents } from './partition-events.ts'
import { lockForIndexes, useReplacements } from './replace-index.ts'
import { runStateStatements } from './run-states.ts'
import { STORAGE_USAGE_STATEMENTS } from './storage-usage.ts'

/**
 * Brings the store to the newest schema. Kysely's lock lets only one replica at a time migrate. An existing PostgreSQL
 * database gets each migration in a transaction of its own, so that the replicas of an earlier version wait only for the
 * locks of one; a new one gets all of them or none.
 */
export async function migrateStore(db: Kysely<Tables>): Promise<void> {
  const provider = { getMigrations: async () => MIGRATIONS }
  // Kysely orders what was run by the clocks of the replicas that ran it, and these differ.
  const migrator = new Migrator({ db, provider, allowUnorderedMigrations: true })
  const isNew = (await migrator.getMigrations()).every(({ executedAt }) => executedAt === undefined)
  const isOneByOne = isPostgres(db) && !isNew
  for (;;) {
    const { error, results = [] } = await (isOneByOne ? migrator.migrateUp() : migrator.migrateToLatest())
    if (error) throw foreignSchema(error) ?? error
    if (!isOneByOne || results.length === 0) return
  }
}

/** What the operator must know about a database in which another version has run its migrations. */
function foreignSchema(error: unknown): Error | null {
  const [, name] = /previously executed migration (\S+) is missing/.exec(errorMessage(error)) ?? []
  if (name === undefined) return null
  const isNewer = name > (Object.keys(MIGRATIONS).at(-1) ?? '')
  const version = isNewer ? 'a newer version than this one' : 'a version before 0.1.0'
  return new Error(`this database is from ${version} (migration ${name}); see docs/upgrade.md`, { cause: error })
}

/** Append only: a store runs, in order of their names, the migrations that it has not run yet. */
export const MIGRATIONS: Record<string, Migration> = {
  '0001_initial_schema': {
    async up(db) {
      for (const statement of initialSchema(db)) await sql.raw(statement).execute(db)
    },
  },
  '0002_list_indexes': {
    async up(db) {
      for (const statement of `${LIST_INDEXES};${COMMIT_MARKS}`.split(';')) await sql.raw(statement).execute(db)
    },
  },
  '0003_storage_usage': {
    async up(db) {
      for (const statement of STORAGE_USAGE_STATEMENTS) await sql.raw(statement).execute(db)
    },
  },
  '0004_run_states': {
    async up(db) {
      for (const statement of runStateStatements(db)) await sql.raw(statement).execute(db)
    },
  },
  '0005_questions': {
    async up(db) {
      for (const statement of QUESTION_STATEMENTS) await sql.raw(statement).execute(db)
    },
  },
  '0006_retries': {
    async up(db) {
      await sql`create index tasks_retry on tasks (retry_of) where retry_of is not null`.execute(db)
    },
  },
  '0007_oauth': {
    async up(db) {
      for (const statement of OAUTH_STATEMENTS) await sql.raw(statement).execute(db)
    },
  },
  '0008_connection_tools': {
    async up(db) {
      await sql.raw(CONNECTION_TOOLS).execute(db)
    },
  },
  '0009_approval_tools': {
    async up(db) {
      await sql`alter table approvals add column tool text`.execute(db)
    },
  },
  '0010_revise': {
    async up(db) {
      await sql`alter table approvals add column revise bigint not null default 0`.execute(db)
    },
  },
  '0011_files': {
    async up(db) {
      for (const statement of FILE_STATEMENTS) await sql.raw(statement).execute(db)
    },
  },
  '0012_conversations': {
    async up(db) {
      for (const statement of conversationStatements(db)) await sql.raw(statement).execute(db)
    },
  },
  '0013_brand': {
    async up(db) {
      for (const statement of BRAND_STATEMENTS) await sql.raw(statement).execute(db)
    },
  },
  '0014_cases': {
    async up(db) {
      for (const statement of CASE_STATEMENTS) await sql.raw(statement).execute(db)
    },
  },
  '0015_message_origin': {
    async up(db) {
      for (const statement of MESSAGE_ORIGIN_STATEMENTS) await sql.raw(statement).execute(db)
    },
  },
  '0016_verified_handles': {
    async up(db) {
      await sql`alter table client_handles add column is_verified bigint not null default 1`.execute(db)
    },
  },
  '0017_approval_people': {
    async up(db) {
      for (const statement of APPROVAL_PEOPLE_STATEMENTS) await sql.raw(statement).execute(db)
    },
  },
  '0018_mcp_oauth': {
    async up(db) {
      for (const statement of MCP_OAUTH_STATEMENTS) await sql.raw(statement).execute(db)
    },
  },
  '0019_wedge_policies': {
    async up(db) {
      await sql.raw(WEDGE_POLICIES).execute(db)
    },
  },
  '0020_client_approvals': {
    async up(db) {
      await sql.raw(CLIENT_APPROVALS_INDEX).execute(db)
    },
  },
  '0021_telemetry': {
    async up(db) {
      for (const statement of TELEMETRY_STATEMENTS) await sql.raw(statement).execute(db)
    },
  },
  '0022_replica_roles': {
    async up(db) {
      for (const statement of replicaRoleStatements(db)) await sql.raw(statement).execute(db)
    },
  },
  '0023_event_partitions': { up: partitionEvents },
  '0024_filter_indexes': {
    async up(db) {
      await lockForIndexes(db, ['tasks', 'approvals', 'cases', 'records', 'threads', 'webhook_deliveries'])
      for (const statement of filterIndexStatements(db)) await sql.raw(statement).execute(db)
    },
  },
  '0025_unread_and_path_indexes': {
    async up(db) {
      await lockForIndexes(db, ['approvals', 'threads'])
      for (const statement of unreadAndPathIndexes(db)) await sql.raw(statement).execute(db)
    },
  },
  '0026_edited_approvals': {
    async up(db) {
      await sql.raw(EDITED_APPROVALS_INDEX).execute(db)
    },
  },
  '0027_replaced_indexes': { up: useReplacements },
  '0028_sqlite_indexes': {
    async up(db) {
      if (isPostgres(db)) return
      for (const statement of SQLITE_INDEXES) await sql.raw(statement).execute(db)
    },
  },
  '0029_unverified_messages': {
    async up(db) {
      for (const statement of UNVERIFIED_MESSAGE_STATEMENTS) await sql.raw(statement).execute(db)
    },
  },
  '0030_signed_tokens': {
    async up(db) {
      for (const statement of SIGNED_TOKENS) await sql.raw(statement).execute(db)
    },
  },
  '0032_connection_files': {
    async up(db) {
      await sql.raw(CONNECTION_FILES).execute(db)
    },
  },
  '0033_held_approvals': {
    async up(db) {
      for (const statement of HELD_APPROVAL_STATEMENTS) await sql.raw(statement).execute(db)
    },
  },
  '0034_effects_without_connection': {
    async up(db) {
      for (const statement of effectsWithoutConnection(db)) await sql.raw(statement).execute(db)
    },
  },
}

/** The approvals that a person has made and can still withdraw. They are few. */
const HELD_APPROVAL_STATEMENTS = [
  'alter table approvals add column held_until text',
  'alter table approvals add column held text',
  'alter table approvals add column held_by_id text',
  'alter table approvals add column dropped text',
  "create index approvals_held on approvals (held_until) where held_until is not null and status = 'pending'",
  'create index approvals_held_by on approvals (held_by_id, id) where held_by_id is not null',
]

/** The files that the MCP server of a connection keeps between calls. */
const CONNECTION_FILES = `
  create table connection_files (
    connection_id text not null, client_id text not null, content text not null, updated_at text not null,
    primary key (connection_id, client_id))`

/**
 * SQLite plans without statistics, so it follows an index that has the order of a list, even if few of its rows match. It
 * needs indexes that have both. The first has all columns that the sums of runs by wedge need, in their order; PostgreSQL adds
 * these together with the sums by day.
 */
const SQLITE_INDEXES = [
  'create index report_runs_wedge on report_runs (project_id, wedge, status, day, runs, cost_micros)',
  'create index threads_unanswered_id on threads (project_id, id) where unanswered_at is not null',
  'create index threads_unanswered_activity on threads (project_id, updated_at, id) where unanswered_at is not null',
  "create index webhook_deliveries_pending on webhook_deliveries (webhook_id, id) where status = 'pending'",
]

/** Tokens of calls that were signed without their body. */
const SIGNED_TOKENS = [
  `create table signed_tokens (
    signature_hash text primary key, channel_id text not null, body_hash text not null, created_at text not null)`,
  'create index signed_tokens_age on signed_tokens (created_at)',
]

/** Finds the requests that a person edited, which no suggested rule may cover. They are few. */
const EDITED_APPROVALS_INDEX =
  'create index approvals_edited on approvals (project_id, wedge, id) where edited is not null'

/**
 * Which tasks each replica executes. Null in `max_tasks` is an older version of the service, which executes all of them.
 * The index finds the queued tasks of a wedge; a SQLite file has one replica, which needs no such search.
 */
const replicaRoleStatements = (db: Db): string[] => [
  'alter table replicas add column max_tasks bigint',
  'alter table replicas add column runner_projects text',
  'alter table replicas add column runner_wedges text',
  ...(isPostgres(db)
    ? ["create index tasks_queued_wedge on tasks (wedge, project_id, id) where status = 'queued'"]
    : []),
]

/** The conversation and the responsible member of a case; what waits for a person is found without reading all rows. */
const CASE_STATEMENTS = [
  'alter table cases add column thread_id text',
  'alter table cases add column assignee_id text',
  'create index cases_thread on cases (thread_id, id) where thread_id is not null',
  'create index connections_failing on connections (project_id, id) where last_error is not null',
  `create index intake_questions_open on intake_questions (project_id, created_at)
    where status = 'open' and asked > 0`,
]

/** What the mail server of a sender proved, and whether a program wrote the message. */
const MESSAGE_ORIGIN_STATEMENTS = [
  'alter table messages add column is_automatic bigint not null default 0',
  'alter table messages add column verdict text',
]

/** The tools of MCP servers, as they were when they were last listed, with the class that an admin gave them. */
const CONNECTION_TOOLS = `
  create table connection_tools (
    connection_id text not null, name text not null, description text not null, input_schema text not null,
    annotations text not null, hash text not null, class text not null, state text not null, position bigint not null,
    updated_at text not null, primary key (connection_id, name))`

/** The auto-approve rules that a project has saved for a wedge. Every change is a new version. */
const WEDGE_POLICIES = `
  create table wedge_policies (
    project_id text not null, wedge text not null, version bigint not null, auto_approve text, actor_kind text not null,
    actor_id text not null, created_at text not null, primary key (project_id, wedge, version))`

/** Finds the questions that wait for the answer of a client. */
const QUESTION_STATEMENTS = [
  'alter table approvals add column client_id text',
  "create index approvals_client on approvals (client_id, id) where status = 'pending' and client_id is not null",
]

/** Finds what a client was asked to approve, also after the decision. */
const CLIENT_APPROVALS_INDEX =
  'create index approvals_of_client on approvals (client_id, id) where client_id is not null'

/** The trace that a task continues; the pending approvals in order of their age. */
const TELEMETRY_STATEMENTS = [
  'alter table tasks add column traceparent text',
  'alter table tasks add column tracestate text',
  "create index approvals_pending on approvals (id) where status = 'pending'",
]

/** `oauth_flows` has the authorisations that wait for the callback; `token_locks` lets one replica at a time refresh. */
const OAUTH_STATEMENTS = [
  `create table oauth_flows (
    connection_id text primary key, project_id text not null, state_hash text not null unique, envelope text not null,
    return_to text not null, actor text not null, expires_at text not null)`,
  `create table token_locks (
    connection_id text primary key, attempt bigint not null, expires_at text not null, error text)`,
]

/** Every list and every read of a run follows an index, so that none of them reads all rows of a project. */
const LIST_INDEXES = `
  create index tasks_project_wedge_status on tasks (project_id, wedge, status, id);
  drop index tasks_project_wedge;
  create index connections_project on connections (project_id, id);
  create index records_project on records (project_id, id);
  create index knowledge_updated on knowledge (project_id, wedge, updated_at, id);
  create index intake_questions_newest on intake_questions (project_id, wedge, kind, created_at, id);
  create index intake_questions_knowledge on intake_questions (knowledge_id) where knowledge_id is not null`

/** A transaction on PostgreSQL writes the row of its connection, so that an interrupted commit can be looked up. */
const COMMIT_MARKS = `
  create table commit_marks (connection text primary key, number bigint not null, written_at text not null)`

/** Whether the sender of a message is proved, which address sent a mail for the sender, and whether it waits for a person. */
const UNVERIFIED_MESSAGE_STATEMENTS = [
  'alter table messages add column is_unverified bigint not null default 0',
  'alter table messages add column sent_by text',
  'alter table messages add column is_waiting bigint not null default 0',
  'create index messages_waiting on messages (thread_id, n) where is_waiting = 1',
  "create index messages_task on messages (task_id, is_unverified, n) where direction = 'inbound' and task_id is not null",
]
