import { parseRole } from '../../identity/organisations/member-rows.ts'
import type { Db } from '../../platform/store/store.ts'
import { type ApproverIdentity, isApprover, isClientApprover } from './approvers.ts'
import { listVotes, type VoteOfVoter } from '../requests/context-rows.ts'

/**
 * The votes that count, oldest first. While an approval is pending, those of members, keys and clients that may decide
 * now: a voter who was removed, or whose role is too low now, has to be replaced. The votes of a decided approval stay.
 */
export async function listCurrentVotes(db: Db, approvalIds: readonly string[]): Promise<VoteOfVoter[]> {
  return (await listVotes(db, approvalIds)).filter((vote) => vote.status !== 'pending' || mayStillDecide(vote))
}

function mayStillDecide(vote: VoteOfVoter): boolean {
  if (vote.voter_kind === 'client') return vote.voter_id === vote.asked_client && isClientApprover(vote)
  const voter = toApproverIdentity(vote)
  return voter !== null && isApprover(vote, voter)
}

function toApproverIdentity({ voter_id, member_role, email, key_role }: VoteOfVoter): ApproverIdentity | null {
  if (member_role !== null && email !== null) return { id: voter_id, role: member_role, email }
  return key_role === null ? null : { role: parseRole(key_role), id: null, email: null }
}
