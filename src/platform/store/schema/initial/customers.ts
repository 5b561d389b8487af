/** Clients, channels and conversations, and what clients see in the portal. */
export const CUSTOMER_TABLES = `
  create table clients (
    id text primary key, project_id text not null, display_name text, metadata text not null,
    created_at text not null, updated_at text not null);
  create index clients_project on clients (project_id, id);
  create table client_handles (
    project_id text not null, handle text not null, shown text not null, client_id text not null,
    is_verified bigint not null default 1, primary key (project_id, handle));
  create index client_handles_client on client_handles (client_id);
  create table channels (
    id text primary key, project_id text not null, connection_id text not null, address text not null,
    wedge text not null, task_type text not null, created_at text not null, adapter text,
    config text not null default '{}', settle_s bigint not null default 0, progress text, poller text,
    poller_until text, last_received_at text, last_error text, last_error_at text);
  create index channels_project on channels (project_id, id);
  create table signed_tokens (
    signature_hash text primary key, channel_id text not null, body_hash text not null, created_at text not null);
  create index signed_tokens_age on signed_tokens (created_at);
  create table threads (
    id text primary key, project_id text not null, channel_id text not null, client_id text not null, subject text,
    status text not null, message_count bigint not null default 0, created_at text not null,
    updated_at text not null, conversation_key text not null default '', reply_token text, held_by_kind text,
    held_by_id text, read_count bigint not null default 0, unanswered_at text, unanswered_reason text,
    unanswered_task_id text, client_read_count bigint not null default 0,
    client_notified_count bigint not null default 0);
  create index threads_client on threads (client_id, id);
  create unique index threads_open on threads (channel_id, client_id, conversation_key) where status = 'open';
  create unique index threads_reply_token on threads (reply_token) where reply_token is not null;
  create index threads_unanswered on threads (project_id, unanswered_at, id) where unanswered_at is not null;
  create index threads_unnotified on threads (project_id, updated_at) where client_notified_count < message_count;
  create index threads_project on threads (project_id, id, channel_id, status);
  create index threads_activity on threads (project_id, updated_at, id, channel_id, status);
  create index threads_held on threads (held_by_id, id) where held_by_id is not null;
  create index threads_unread on threads (project_id, id) where message_count > read_count;
  create index threads_unread_activity on threads (project_id, updated_at, id) where message_count > read_count;
  create table messages (
    id text primary key, n bigint not null default 0, project_id text not null, thread_id text not null,
    channel_id text not null, direction text not null, from_handle text, from_name text, body text not null,
    subject text, task_id text, external_id text, recipients text, created_at text not null, author_kind text,
    author_id text, address text, delivery text, delivery_error text, is_automatic bigint not null default 0,
    verdict text, is_unverified bigint not null default 0, sent_by text, is_waiting bigint not null default 0,
    unique (channel_id, external_id));
  create index messages_thread on messages (thread_id, n);
  create index messages_waiting on messages (thread_id, n) where is_waiting = 1;
  create index messages_task on messages (task_id, is_unverified, n)
    where direction = 'inbound' and task_id is not null;
  create table message_files (
    message_id text not null, n bigint not null, file_id text not null, primary key (message_id, n));
  create index message_files_file on message_files (file_id);
  create table brands (
    project_id text primary key, name text, color text, logo_file_id text, favicon_file_id text, welcome text,
    language text not null, portal_channel_id text, mail_connection_id text, notify_since text,
    updated_at text not null);
  create table portal_links (
    hash text primary key, project_id text not null, client_id text not null, created_at text not null,
    expires_at text not null, used_at text, revoked_at text);
  create index portal_links_client on portal_links (client_id);
  create table client_sessions (
    hash text primary key, project_id text not null, client_id text not null, created_at text not null,
    expires_at text not null);
  create index client_sessions_client on client_sessions (client_id);
  create table notice_tokens (
    hash text primary key, project_id text not null, client_id text not null, created_at text not null);
  create index notice_tokens_client on notice_tokens (client_id);
  create index notice_tokens_created on notice_tokens (created_at);
  create table notice_opt_outs (client_id text primary key, project_id text not null, at text not null)`
