import { isPostgres } from '../dialect.ts'
import type { Db } from '../store.ts'

/**
 * Channels with an adapter, and what a conversation needs: who has taken it over, what was read, whether the client still
 * waits for an answer, and how each message was delivered.
 */
export const conversationStatements = (db: Db): string[] => [
  'alter table channels add column adapter text',
  "alter table channels add column config text not null default '{}'",
  'alter table channels add column settle_s bigint not null default 0',
  'alter table channels add column progress text',
  'alter table channels add column poller text',
  'alter table channels add column poller_until text',
  'alter table channels add column last_received_at text',
  'alter table channels add column last_error text',
  'alter table channels add column last_error_at text',
  "alter table threads add column conversation_key text not null default ''",
  'alter table threads add column reply_token text',
  'alter table threads add column held_by_kind text',
  'alter table threads add column held_by_id text',
  'alter table threads add column read_count bigint not null default 0',
  'alter table threads add column unanswered_at text',
  'alter table threads add column unanswered_reason text',
  'alter table threads add column unanswered_task_id text',
  'drop index threads_open',
  "create unique index threads_open on threads (channel_id, client_id, conversation_key) where status = 'open'",
  'create unique index threads_reply_token on threads (reply_token) where reply_token is not null',
  'create index threads_activity on threads (project_id, updated_at, id)',
  'create index threads_unanswered on threads (project_id, unanswered_at, id) where unanswered_at is not null',
  'alter table messages add column author_kind text',
  'alter table messages add column author_id text',
  'alter table messages add column address text',
  'alter table messages add column delivery text',
  'alter table messages add column delivery_error text',
  'alter table tasks add column ready_at text',
  'create index tasks_thread on tasks (thread_id, status) where thread_id is not null',
  ...nullableTaskOfEffects(db),
]

/** A member's own answer is an effect without a task. */
const nullableTaskOfEffects = (db: Db): string[] =>
  isPostgres(db)
    ? ['alter table effects alter column task_id drop not null']
    : [
        `create table new_effects (
          approval_id text primary key, project_id text not null, task_id text, connection_id text not null,
          connection text not null, action text not null, payload_sha256 text not null, outcome text not null,
          status bigint, error text, replica text not null, created_at text not null, finished_at text, result text)`,
        `insert into new_effects select approval_id, project_id, task_id, connection_id, connection, action,
          payload_sha256, outcome, status, error, replica, created_at, finished_at, result from effects`,
        'drop table effects',
        'alter table new_effects rename to effects',
        'create index effects_task on effects (task_id, approval_id)',
        "create index effects_open on effects (replica) where outcome = 'sent'",
      ]
