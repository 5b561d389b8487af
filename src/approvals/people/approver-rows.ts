import { excluded, prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ApprovalRow, ApprovalVoteRow, MemberRow } from '../../platform/store/tables.ts'

export type ApproverMember = Pick<MemberRow, 'id' | 'role' | 'email' | 'name'>

/** A member of the organisation that the project belongs to, with the current role. */
export const findApproverMember = prepareQuery<{ id: string; project_id: string }, ApproverMember>((db, arg) =>
  db
    .selectFrom('members')
    .innerJoin('projects', 'projects.org_id', 'members.org_id')
    .select(['members.id', 'members.role', 'members.email', 'members.name'])
    .where('members.id', '=', arg('id'))
    .where('projects.id', '=', arg('project_id')),
)

/** The members of the organisation that the project belongs to. An open invite does not count. */
export const listApproverMembers = prepareQuery<{ project_id: string }, ApproverMember>((db, arg) =>
  db
    .selectFrom('members')
    .innerJoin('projects', 'projects.org_id', 'members.org_id')
    .select(['members.id', 'members.role', 'members.email', 'members.name'])
    .where('projects.id', '=', arg('project_id'))
    .where('members.password', 'is not', null)
    .orderBy('members.id'),
)

/** Stores a vote. No row if the same voter has approved the same payload before. */
export const upsertVote = prepareQuery<ApprovalVoteRow, { voter_id: string }>((db, arg) =>
  db
    .insertInto('approval_votes')
    .values({
      approval_id: arg('approval_id'),
      project_id: arg('project_id'),
      voter_kind: arg('voter_kind'),
      voter_id: arg('voter_id'),
      payload_sha256: arg('payload_sha256'),
      created_at: arg('created_at'),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['approval_id', 'voter_kind', 'voter_id'])
        .doUpdateSet({ payload_sha256: excluded('payload_sha256'), created_at: excluded('created_at') })
        .where('approval_votes.payload_sha256', '!=', excluded('payload_sha256')),
    )
    .returning('voter_id'),
)

/** An edit makes earlier votes void, even if a later edit returns to their payload. */
export async function deleteVotesForOtherPayloads(
  db: Db,
  { approval_id, payload_sha256 }: Pick<ApprovalVoteRow, 'approval_id' | 'payload_sha256'>,
): Promise<void> {
  const query = db.deleteFrom('approval_votes').where('approval_id', '=', approval_id)
  await query.where('payload_sha256', '!=', payload_sha256).execute()
}

/** The edit of a voter while more votes are needed. No row if the approval is decided, was expired at `made_at`, or is held. */
export const updatePendingPayload = prepareQuery<
  { id: string; edited: string | null; payload_sha256: string; made_at: string },
  { id: string }
>((db, arg) =>
  db
    .updateTable('approvals')
    .set({ edited: arg('edited'), payload_sha256: arg('payload_sha256') })
    .where('id', '=', arg('id'))
    .where('status', '=', 'pending')
    .where('expires_at', '>', arg('made_at'))
    .where('held_until', 'is', null)
    .returning('id'),
)

/** Makes messages about the approval outdated, which show how many people have approved. */
export const updateApprovalVersion = prepareQuery<{ id: string }>((db, arg) =>
  db
    .updateTable('approvals')
    .set((eb) => ({ version: eb('version', '+', 1) }))
    .where('id', '=', arg('id'))
    .$castTo<never>(),
)

/** Asks a member to decide. No row if the approval is decided. */
export const updateAssignee = prepareQuery<{ id: string; assignee_id: string | null }, { id: string }>((db, arg) =>
  db
    .updateTable('approvals')
    .set({ assignee_id: arg('assignee_id') })
    .where('id', '=', arg('id'))
    .where('status', '=', 'pending')
    .returning('id'),
)

/** Call it in a transaction that has locked the pending approval. */
export const updateEscalation = prepareQuery<Pick<ApprovalRow, 'id' | 'approvers' | 'escalated_at' | 'notify_at'>>(
  (db, arg) =>
    db
      .updateTable('approvals')
      .set({ approvers: arg('approvers'), escalated_at: arg('escalated_at'), notify_at: arg('notify_at') })
      .where('id', '=', arg('id'))
      .$castTo<never>(),
)
