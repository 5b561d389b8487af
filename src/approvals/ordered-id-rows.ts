import { sql } from 'kysely'
import { mergeIds } from '../store/merge-ids.ts'
import type { Db } from '../store/store.ts'
import { APPROVAL_PATHS, type ApprovalPath } from './view.ts'

/** The approvals of a project that `approvalIdsInOrder` reads; an undefined field selects all. */
interface ApprovalRange {
  projectId: string
  path?: ApprovalPath | undefined
  after?: string | undefined
  before?: string | undefined
  upTo?: string | undefined
}

/**
 * The ids of a project's approvals in order, as a union over the paths. Each part reads a range of the index that begins
 * with the project and the path. An index on the project alone would be one more for every approval to write.
 */
export function approvalIdsInOrder(db: Db, range: ApprovalRange, order: 'asc' | 'desc', limit: number) {
  const paths = range.path === undefined ? APPROVAL_PATHS : [range.path]
  const ofEach = paths.map((path) => approvalIdsOfPath(db, range, path))
  return mergeIds(db, ofEach, order, limit)
}

function approvalIdsOfPath(db: Db, { projectId, after, before, upTo }: ApprovalRange, path: ApprovalPath) {
  let ids = db
    .selectFrom('approvals')
    .select('id')
    .where('project_id', '=', projectId)
    .where('path', '=', sql.lit<ApprovalPath>(path))
  if (after !== undefined) ids = ids.where('id', '>', after)
  if (before !== undefined) ids = ids.where('id', '<', before)
  return upTo === undefined ? ids : ids.where('id', '<=', upTo)
}
