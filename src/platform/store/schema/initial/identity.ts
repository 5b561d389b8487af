/** Organisations, members and keys; the apps that call `/mcp`; the audit log; the replicas. */
export const IDENTITY_TABLES = `
  create table organisations (id text primary key, name text not null, created_at text not null, founding bigint);
  create unique index organisations_founding on organisations (founding);
  create table projects (
    id text primary key, org_id text not null references organisations(id), slug text not null, name text not null,
    tier text not null, wedges text, created_at text not null, unique (org_id, slug));
  create index projects_slug on projects (slug, id);
  create table storage_usage (project_id text primary key, bytes bigint not null);
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
  create table minute_counts (subject text primary key, seconds text not null);
  create table mcp_apps (
    id text primary key, name text not null, redirect_uris text not null, created_at text not null,
    last_used_at text);
  create table mcp_authorisations (
    id text primary key, project_id text not null, member_id text not null references members(id) on delete cascade,
    app_id text not null, app_name text not null, role text not null, created_at text not null, last_used_at text);
  create index mcp_authorisations_project on mcp_authorisations (project_id, id);
  create index mcp_authorisations_member on mcp_authorisations (member_id);
  create index mcp_authorisations_app on mcp_authorisations (app_id);
  create table mcp_codes (
    hash text primary key, authorisation_id text not null references mcp_authorisations(id) on delete cascade,
    redirect_uri text not null, code_challenge text not null, expires_at text not null, used_at text);
  create index mcp_codes_authorisation on mcp_codes (authorisation_id);
  create table mcp_tokens (
    hash text primary key, authorisation_id text not null references mcp_authorisations(id) on delete cascade,
    kind text not null, expires_at text not null, used_at text);
  create index mcp_tokens_authorisation on mcp_tokens (authorisation_id);
  create index mcp_tokens_expires on mcp_tokens (expires_at);
  create table audit_entries (
    chain text not null, seq bigint not null, ts text not null, actor_kind text not null, actor_id text not null,
    action text not null, subject text not null, data text not null, prev_hash text not null, hash text not null,
    primary key (chain, seq)) without rowid;
  create index audit_entries_action on audit_entries (chain, action, seq);
  create index audit_entries_subject on audit_entries (chain, subject, seq, action);
  create table audit_heads (chain text primary key, seq bigint not null, hash text not null, seal text);
  create table audit_checkpoints (
    chain text not null, seq bigint not null, hash text not null, at text not null, kid text not null,
    signature text not null, primary key (chain, seq));
  create table replicas (
    id text primary key, started_at text not null, seen_at text not null, max_tasks bigint, runner_projects text,
    runner_wedges text);
  create table commit_marks (connection text primary key, number bigint not null, written_at text not null)`
