/** Connections and their secrets. */
export const CONNECTION_TABLES = `
  create table connections (
    id text primary key, project_id text not null, owner_kind text not null, owner_id text not null,
    kind text not null, name text not null, config text not null, secret_ref text, pending_account text,
    last_ok_at text, last_error text, last_error_at text, created_at text not null, updated_at text not null,
    unique (project_id, owner_kind, owner_id, name));
  create index connections_project on connections (project_id, id);
  create index connections_failing on connections (project_id, id) where last_error is not null;
  create table connection_tools (
    connection_id text not null, name text not null, description text not null, input_schema text not null,
    annotations text not null, hash text not null, class text not null, state text not null,
    position bigint not null, updated_at text not null, primary key (connection_id, name));
  create table connection_files (
    connection_id text not null, client_id text not null, content text not null, updated_at text not null,
    primary key (connection_id, client_id));
  create table vault (
    project_id text not null, key text not null, connection_id text not null, kind text not null,
    envelope text not null, updated_at text not null, primary key (project_id, key));
  create table oauth_flows (
    connection_id text primary key, project_id text not null, state_hash text not null unique,
    envelope text not null, return_to text not null, actor text not null, expires_at text not null);
  create table token_locks (
    connection_id text primary key, attempt bigint not null, expires_at text not null, error text)`
