import type { PageQuery } from '../http/page.ts'
import { listNewestPage } from '../store/newest-page.ts'
import { prepareQuery } from '../store/prepared-query.ts'
import type { Db } from '../store/store.ts'
import type { ApprovalCommentRow } from '../store/tables.ts'

export const insertComment = prepareQuery<ApprovalCommentRow>((db, arg) =>
  db
    .insertInto('approval_comments')
    .values({
      id: arg('id'),
      project_id: arg('project_id'),
      approval_id: arg('approval_id'),
      body: arg('body'),
      author_kind: arg('author_kind'),
      author_id: arg('author_id'),
      created_at: arg('created_at'),
    })
    .$castTo<never>(),
)

/** Newest first, one more than a page. */
export const listComments = (db: Db, approvalId: string, page: PageQuery): Promise<ApprovalCommentRow[]> =>
  listNewestPage(db, db.selectFrom('approval_comments').selectAll().where('approval_id', '=', approvalId), page)
