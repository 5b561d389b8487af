/**
 * Who decides about an approval and how they hear of it. `notifiers` has the services through which a project tells its
 * members, `notification_links` where each member gets the messages, `notification_messages` each message.
 */
export const APPROVAL_PEOPLE_STATEMENTS = [
  'alter table tasks add column requested_by_kind text',
  'alter table tasks add column requested_by_id text',
  'alter table approvals add column needed bigint not null default 1',
  'alter table approvals add column approvers text',
  'alter table approvals add column excludes_requester bigint not null default 0',
  'alter table approvals add column escalate text',
  'alter table approvals add column escalated_at text',
  'alter table approvals add column notify_at text',
  'alter table approvals add column assignee_id text',
  'alter table approvals add column version bigint not null default 0',
  'alter table approvals add column has_messages bigint not null default 0',
  "create index approvals_notify on approvals (notify_at) where notify_at is not null and status = 'pending'",
  "create index approvals_outdated on approvals (id) where has_messages = 1 and (status != 'pending' or version > 0)",
  `create table approval_votes (
    approval_id text not null, project_id text not null, voter_kind text not null, voter_id text not null,
    payload_sha256 text not null, created_at text not null, primary key (approval_id, voter_kind, voter_id))`,
  `create table approval_comments (
    id text primary key, project_id text not null, approval_id text not null, body text not null,
    author_kind text not null, author_id text not null, created_at text not null)`,
  'create index approval_comments_approval on approval_comments (approval_id, id)',
  `create table notifiers (
    id text primary key, project_id text not null, kind text not null, connection_id text not null,
    created_at text not null, unique (project_id, kind))`,
  `create table notification_settings (
    project_id text not null, member_id text not null, settings text not null, updated_at text not null,
    primary key (project_id, member_id))`,
  `create table notification_links (
    project_id text not null, member_id text not null references members(id) on delete cascade, kind text not null,
    address text not null, linked_at text not null, primary key (project_id, member_id, kind))`,
  'create unique index notification_links_address on notification_links (project_id, kind, address)',
  `create table notification_codes (
    hash text primary key, project_id text not null, member_id text not null references members(id) on delete cascade,
    kind text not null, address text, expires_at text not null)`,
  `create table notification_messages (
    id text primary key, project_id text not null, approval_id text not null, member_id text not null,
    kind text not null, address text not null, state text not null, is_digest bigint not null, due_at text not null,
    attempts bigint not null, claimed_by text, claimed_until text, external_id text, shown text not null,
    shown_version bigint not null, error text, created_at text not null, sent_at text, unique (approval_id, member_id, kind))`,
  "create index notification_messages_due on notification_messages (due_at) where state = 'waiting'",
  "create index notification_messages_shown on notification_messages (approval_id) where shown = 'pending'",
  'create index notification_messages_digest on notification_messages (member_id, external_id) where is_digest = 1',
  'create index notification_messages_created on notification_messages (created_at)',
  `create table decision_links (
    hash text primary key, project_id text not null, approval_id text not null, member_id text not null,
    expires_at text not null, used_at text)`,
  'create index decision_links_expires on decision_links (expires_at)',
]
