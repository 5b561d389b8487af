/** Approvals, their effects and rules, and how members are notified of them. */
export const APPROVAL_TABLES = `
  create table approvals (
    id text primary key, project_id text not null, task_id text not null, wedge text not null,
    task_type text not null, action text not null, risk text not null, path text not null, payload text not null,
    payload_sha256 text not null, edited text, status text not null, policy_reason text, policy_rule text,
    reason text, note text, connection_id text, connection text, created_at text not null, expires_at text,
    decided_at text, decided_by_kind text, decided_by_id text, client_id text, tool text,
    revise bigint not null default 0, needed bigint not null default 1, approvers text,
    excludes_requester bigint not null default 0, escalate text, escalated_at text, notify_at text,
    assignee_id text, version bigint not null default 0, has_messages bigint not null default 0, held_until text,
    held text, held_by_id text, dropped text);
  create index approvals_task on approvals (task_id, id);
  create index approvals_due on approvals (expires_at) where status = 'pending';
  create index approvals_client on approvals (client_id, id) where status = 'pending' and client_id is not null;
  create index approvals_notify on approvals (notify_at) where notify_at is not null and status = 'pending';
  create index approvals_outdated on approvals (id) where has_messages = 1 and (status != 'pending' or version > 0);
  create index approvals_of_client on approvals (client_id, id) where client_id is not null;
  create index approvals_pending on approvals (id) where status = 'pending';
  create index approvals_project_wedge on approvals (project_id, wedge, id, path);
  create index approvals_project_status on approvals (project_id, status, id, wedge, path);
  create index approvals_assignee on approvals (assignee_id, id) where assignee_id is not null;
  create index approvals_project on approvals (project_id, id, path);
  create index approvals_edited on approvals (project_id, wedge, id) where edited is not null;
  create index approvals_held on approvals (held_until) where held_until is not null and status = 'pending';
  create index approvals_held_by on approvals (held_by_id, id) where held_by_id is not null;
  create table approval_votes (
    approval_id text not null, project_id text not null, voter_kind text not null, voter_id text not null,
    payload_sha256 text not null, created_at text not null, primary key (approval_id, voter_kind, voter_id));
  create table approval_comments (
    id text primary key, project_id text not null, approval_id text not null, body text not null,
    author_kind text not null, author_id text not null, created_at text not null);
  create index approval_comments_approval on approval_comments (approval_id, id);
  create table effects (
    id text primary key, project_id text not null, task_id text, message_id text, connection_id text, connection text,
    action text not null, payload_sha256 text not null, outcome text not null, status bigint, error text,
    replica text not null, created_at text not null, finished_at text, result text);
  create index effects_task on effects (task_id, id);
  create index effects_open on effects (replica) where outcome = 'sent';
  create table policy_counters (
    project_id text not null, rule text not null, span text not null, used bigint not null,
    primary key (project_id, rule, span));
  create table wedge_policies (
    project_id text not null, wedge text not null, version bigint not null, auto_approve text,
    actor_kind text not null, actor_id text not null, created_at text not null,
    primary key (project_id, wedge, version));
  create table notifiers (
    id text primary key, project_id text not null, kind text not null, connection_id text not null,
    created_at text not null, unique (project_id, kind));
  create table notification_settings (
    project_id text not null, member_id text not null, settings text not null, updated_at text not null,
    primary key (project_id, member_id));
  create table notification_links (
    project_id text not null, member_id text not null references members(id) on delete cascade, kind text not null,
    address text not null, linked_at text not null, primary key (project_id, member_id, kind));
  create unique index notification_links_address on notification_links (project_id, kind, address);
  create table notification_codes (
    hash text primary key, project_id text not null,
    member_id text not null references members(id) on delete cascade, kind text not null, address text,
    expires_at text not null);
  create table notification_messages (
    id text primary key, project_id text not null, approval_id text not null, member_id text not null,
    kind text not null, address text not null, state text not null, is_digest bigint not null, due_at text not null,
    attempts bigint not null, claimed_by text, claimed_until text, external_id text, shown text not null,
    shown_version bigint not null, error text, created_at text not null, sent_at text,
    unique (approval_id, member_id, kind));
  create index notification_messages_due on notification_messages (due_at) where state = 'waiting';
  create index notification_messages_shown on notification_messages (approval_id) where shown = 'pending';
  create index notification_messages_digest on notification_messages (member_id, external_id) where is_digest = 1;
  create index notification_messages_created on notification_messages (created_at);
  create table decision_links (
    hash text primary key, project_id text not null, approval_id text not null, member_id text not null,
    expires_at text not null, used_at text);
  create index decision_links_expires on decision_links (expires_at)`
