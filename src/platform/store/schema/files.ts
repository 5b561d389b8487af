/**
 * `files` has the files that people, clients and channels brought in. With database storage the bytes are in
 * `file_chunks`, otherwise in the object store under the id of the file. A row is inserted before the bytes arrive and
 * becomes `stored` once all of them are there. `task_files` and `message_files` say what uses a file.
 */
export const FILE_STATEMENTS = [
  `create table files (
    id text primary key, project_id text not null, client_id text, name text not null, content_type text not null,
    size bigint not null, sha256 text not null, state text not null, storage text not null, upload_id text,
    created_by text not null, created_at text not null)`,
  'create index files_project on files (project_id, id)',
  'create index files_client on files (client_id, id) where client_id is not null',
  "create index files_unfinished on files (state, created_at) where state <> 'stored'",
  'create table file_chunks (file_id text not null, n bigint not null, content text not null, primary key (file_id, n))',
  'create table task_files (task_id text not null, n bigint not null, file_id text not null, primary key (task_id, n))',
  'create index task_files_file on task_files (file_id)',
  `create table message_files (
    message_id text not null, n bigint not null, file_id text not null, primary key (message_id, n))`,
  'create index message_files_file on message_files (file_id)',
  "alter table artifacts add column storage text not null default 'database'",
]
