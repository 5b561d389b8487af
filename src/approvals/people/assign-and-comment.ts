import { nameActors } from '../../identity/organisations/actor-name-rows.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { badRequest } from '../../platform/base/problem.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { publishSameStatus } from '../../work/events/project-changes.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ApprovalCommentRow, ApprovalRow } from '../../platform/store/tables.ts'
import { findTaskUnscoped } from '../../work/tasks/rows.ts'
import { listApproverMembers, updateAssignee } from './approver-rows.ts'
import { isApprover, isExcludedRequester } from './approvers.ts'
import { alreadyDecided } from './cast-vote.ts'
import { insertComment } from './comment-rows.ts'

/** The same limit as for a note or a reason. */
export const MAX_COMMENT_CHARACTERS = 10_000

/** Asks a member, by id, mail address or `me`, to decide; null asks no member. 400 for a member who may not decide. */
export function assignApproval(
  ctx: Ctx,
  { actor }: Pick<ProjectScope, 'actor'>,
  row: ApprovalRow,
  assignee: string | null,
): Promise<ApprovalRow> {
  return inTx(ctx, async (tx) => {
    const assignee_id = assignee === null ? null : await findAssignee(tx, row, assignee === 'me' ? actor.id : assignee)
    const [assigned] = await updateAssignee(tx.db, { id: row.id, assignee_id })
    if (!assigned) throw await alreadyDecided(tx, row.id, actor)
    publishSameStatus(tx, row.project_id, { kind: 'approval', id: row.id, status: row.status })
    await appendAuditEntry(tx, row.project_id, actor, 'approval.assigned', row.id, { assignee_id })
    return { ...row, assignee_id }
  })
}

async function findAssignee({ db }: Tx, row: ApprovalRow, named: string): Promise<string> {
  const task = await findTaskUnscoped(db, row.task_id)
  const member = (await listApproverMembers(db, row)).find(
    ({ id, email }) => id === named || email.toLowerCase() === named.toLowerCase(),
  )
  if (!member || !isApprover(row, member) || isExcludedRequester(row, task?.requested_by_id, member.id))
    throw badRequest("field 'assignee' must be the id or mail address of a member who may decide")
  return member.id
}

export async function commentApproval(
  ctx: Ctx,
  { actor }: Pick<ProjectScope, 'actor'>,
  approval: ApprovalRow,
  body: string,
): Promise<ApprovalCommentRow> {
  const { id: approval_id, project_id, status } = approval
  const author = { author_kind: actor.kind, author_id: actor.id }
  const row = { id: ctx.world.newId('cmt'), project_id, approval_id, body, ...author, created_at: isoNow(ctx) }
  await inTx(ctx, async (tx) => {
    await insertComment(tx.db, row)
    publishSameStatus(tx, project_id, { kind: 'approval', id: approval_id, status })
    // Without the text, which may be about a client who asks to be erased.
    await appendAuditEntry(tx, project_id, actor, 'approval.commented', approval_id, { comment_id: row.id })
  })
  return row
}

export async function readCommentViews(db: Db, rows: readonly ApprovalCommentRow[]) {
  const nameOf = await nameActors(
    db,
    rows.map(({ author_kind, author_id }) => ({ kind: author_kind, id: author_id })),
  )
  return rows.map(({ id, approval_id, body, author_kind, author_id, created_at }) => ({
    id,
    approval_id,
    body,
    author: nameOf(author_kind, author_id),
    created_at,
  }))
}
