import { sql } from 'kysely'
import { type IdBounds, mergeIds } from '../../platform/store/merge-ids.ts'
import type { Db } from '../../platform/store/store.ts'
import { APPROVAL_PATHS, type ApprovalPath } from './view.ts'

/** The approvals of a project that `approvalIdsInOrder` reads; an undefined field selects all. */
interface ApprovalRange extends IdBounds {
  projectId: string
  path?: ApprovalPath | undefined
}

/**
 * The ids of a project's approvals in order, as a union over the paths. Each part reads a range of the index that begins
 * with the project and the path. An index on the project alone would be one more for every approval to write.
 */
export function approvalIdsInOrder(db: Db, range: ApprovalRange, order: 'asc' | 'desc', limit: number) {
  const ofProject = db.selectFrom('approvals').select('id').where('project_id', '=', range.projectId)
  const paths = range.path === undefined ? APPROVAL_PATHS : [range.path]
  const ofEach = paths.map((path) => ofProject.where('path', '=', sql.lit<ApprovalPath>(path)))
  return mergeIds(db, ofEach, range, order, limit)
}
