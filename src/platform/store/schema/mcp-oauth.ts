/**
 * Apps that call `/mcp` with OAuth. `mcp_apps` has the registered apps, `mcp_authorisations` the access that a member gave
 * to an app in one project, `mcp_codes` and `mcp_tokens` the hashes of its codes and tokens.
 */
export const MCP_OAUTH_STATEMENTS = [
  `create table mcp_apps (
    id text primary key, name text not null, redirect_uris text not null, created_at text not null, last_used_at text)`,
  `create table mcp_authorisations (
    id text primary key, project_id text not null,
    member_id text not null references members(id) on delete cascade,
    app_id text not null, app_name text not null, role text not null, created_at text not null, last_used_at text)`,
  'create index mcp_authorisations_project on mcp_authorisations (project_id, id)',
  'create index mcp_authorisations_member on mcp_authorisations (member_id)',
  'create index mcp_authorisations_app on mcp_authorisations (app_id)',
  `create table mcp_codes (
    hash text primary key, authorisation_id text not null references mcp_authorisations(id) on delete cascade,
    redirect_uri text not null, code_challenge text not null, expires_at text not null, used_at text)`,
  'create index mcp_codes_authorisation on mcp_codes (authorisation_id)',
  `create table mcp_tokens (
    hash text primary key, authorisation_id text not null references mcp_authorisations(id) on delete cascade,
    kind text not null, expires_at text not null, used_at text)`,
  'create index mcp_tokens_authorisation on mcp_tokens (authorisation_id)',
  'create index mcp_tokens_expires on mcp_tokens (expires_at)',
]
