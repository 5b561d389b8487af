import { isPostgres } from '../dialect.ts'
import type { Db } from '../store.ts'
import { replaceIndex } from './replace-index.ts'

/**
 * A filter that few or no rows match must not read all rows of a project. The lists keep the indexes that they had, with the
 * columns of their filters at the end: a search then reads the index alone, and a new row writes no further index. Rare
 * rows have partial indexes, which cost nothing for the others.
 */
export const filterIndexStatements = (db: Db): string[] => [
  // Which blocks of an audit chain have an action or a subject, and how far that is known.
  `create table audit_blocks (
    chain text not null, term text not null, block bigint not null, primary key (chain, term, block))${isPostgres(db) ? '' : ' without rowid'}`,
  'create table audit_indexes (chain text primary key, next_block bigint not null)',
  ...replaceIndex(db, 'approvals_project_wedge', 'approvals (project_id, wedge, id, path)'),
  ...replaceIndex(db, 'approvals_project_status', 'approvals (project_id, status, id, wedge, path)'),
  'create index approvals_assignee on approvals (assignee_id, id) where assignee_id is not null',
  "create index tasks_expired on tasks (project_id, finished_at, id) where status = 'expired'",
  ...replaceIndex(db, 'cases_project', 'cases (project_id, id, wedge, status, stage, assignee_id)'),
  ...replaceIndex(db, 'records_project', 'records (project_id, id, wedge, collection, key)'),
  ...replaceIndex(db, 'threads_project', 'threads (project_id, id, channel_id, status)'),
  ...replaceIndex(db, 'threads_activity', 'threads (project_id, updated_at, id, channel_id, status)'),
  'create index threads_held on threads (held_by_id, id) where held_by_id is not null',
  "create index webhook_deliveries_failed on webhook_deliveries (webhook_id, id) where status = 'failed'",
]

/**
 * Finds the threads with messages that the team has not read, in both orders of the list, and the approvals of a path,
 * without reading the others. The list of all approvals merges those of the paths.
 */
export const unreadAndPathIndexes = (db: Db): string[] => [
  ...replaceIndex(db, 'approvals_project', 'approvals (project_id, path, id)'),
  'create index threads_unread on threads (project_id, id) where message_count > read_count',
  'create index threads_unread_activity on threads (project_id, updated_at, id) where message_count > read_count',
]
