import type { PageQuery } from '../../platform/http/page.ts'
import { listNewestPage } from '../../platform/store/newest-page.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ApprovalCommentRow } from '../../platform/store/tables.ts'

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
  listNewestPage(db.selectFrom('approval_comments').selectAll().where('approval_id', '=', approvalId), page)
