/**
 * `brands` is what clients see of a project: name, colour, logo, language. The counts of a thread say up to which message
 * the client has read it in the portal, and up to which one a mail has told the client of it. `notice_tokens` has the
 * unsubscribe links of those mails, `notice_opt_outs` the clients who want none.
 */
export const BRAND_STATEMENTS = [
  `create table brands (
    project_id text primary key, name text, color text, logo_file_id text, favicon_file_id text, welcome text,
    language text not null, portal_channel_id text, mail_connection_id text, notify_since text, updated_at text not null)`,
  'create index projects_slug on projects (slug, id)',
  'alter table threads add column client_read_count bigint not null default 0',
  'alter table threads add column client_told_count bigint not null default 0',
  'create index threads_untold on threads (project_id, updated_at) where client_told_count < message_count',
  `create table notice_tokens (
    hash text primary key, project_id text not null, client_id text not null, created_at text not null)`,
  'create index notice_tokens_client on notice_tokens (client_id)',
  'create index notice_tokens_created on notice_tokens (created_at)',
  'create table notice_opt_outs (client_id text primary key, project_id text not null, at text not null)',
]
