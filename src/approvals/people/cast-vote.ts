import { nameActors } from '../../identity/organisations/actor-name-rows.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { conflict, type Problem } from '../../platform/base/problem.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { publishSameStatus } from '../../work/events/project-changes.ts'
import { findApprovalDecision } from '../lifecycle/rows.ts'
import {
  deleteVotesForOtherPayloads,
  updateApprovalVersion,
  updatePendingPayload,
  upsertVote,
} from './approver-rows.ts'
import { hashPayload } from '../requests/ask-approval.ts'
import { listCurrentVotes } from './current-votes.ts'
import { parseHeld } from '../requests/held-approval.ts'
import { findHeldApproval } from '../requests/held-rows.ts'
import type { DecidableApproval } from '../requests/rows.ts'
import { approvedPayload } from '../requests/view.ts'

/**
 * Stores one vote for the payload and returns how many there are. A vote for an edited payload changes the payload, and
 * earlier votes do not count any more. A second vote of the same actor for the same payload changes nothing.
 */
export async function castVote(tx: Tx, row: DecidableApproval, voter: Actor, madeAt: string): Promise<number> {
  const { kind, id } = voter
  const payload_sha256 = hashPayload(approvedPayload(row))
  const [open] = await updatePendingPayload(tx.db, { id: row.id, edited: row.edited, payload_sha256, made_at: madeAt })
  if (!open) throw await alreadyDecided(tx, row.id, voter)
  const isEdited = payload_sha256 !== row.payload_sha256
  if (isEdited) await deleteVotesForOtherPayloads(tx.db, { approval_id: row.id, payload_sha256 })
  const vote = { approval_id: row.id, project_id: row.project_id, voter_kind: kind, voter_id: id }
  const [stored] = await upsertVote(tx.db, { ...vote, payload_sha256, created_at: isoNow(tx) })
  const votes = (await listCurrentVotes(tx.db, [row.id])).length
  if (!stored || votes >= row.needed) return votes
  await updateApprovalVersion(tx.db, row)
  publishSameStatus(tx, row.project_id, { kind: 'approval', id: row.id, status: 'pending' })
  const { action, task_id, needed } = row
  const data = { action, task_id, payload_sha256, votes, needed, edited: isEdited }
  await appendAuditEntry(tx, row.project_id, { kind, id }, 'approval.voted', row.id, data)
  return votes
}

/** The 409 for a decision that came too late, or while an approval is held. */
export async function alreadyDecided(tx: Pick<Tx, 'db' | 'world'>, id: string, reader: Actor): Promise<Problem> {
  const [current] = await findApprovalDecision(tx.db, { id })
  if (current?.status === 'pending' && current.held_until !== null) return alreadyHeld(tx, id, reader)
  // A row that is still pending has passed its `expires_at`, and the sweep has not closed it yet.
  return conflict(`approval already decided (${current?.status === 'pending' ? 'expired' : current?.status})`)
}

/** Says who has approved, and how long the approval can be withdrawn. Clients do not read who is in the team. */
async function alreadyHeld(tx: Pick<Tx, 'db' | 'world'>, id: string, reader: Actor): Promise<Problem> {
  if (reader.kind === 'client') return conflict('the team is deciding about this: read it again in a minute')
  const [row] = await findHeldApproval(tx.db, { id })
  const held = row && parseHeld(row)
  if (!held) return conflict('another decision was made at the same moment: read the approval again')
  const { kind, id: byId } = held.by
  const left = Math.max(1, Math.ceil((Date.parse(row.held_until ?? '') - tx.world.clock.now()) / 1_000))
  const counts = `it counts in ${left} ${left === 1 ? 'second' : 'seconds'}`
  if (kind === reader.kind && byId === reader.id)
    return conflict(`you have approved this already: ${counts}, unless you withdraw it`)
  const name = (await nameActors(tx.db, [held.by]))(kind, byId)?.name ?? 'another person'
  return conflict(`${name} has approved this already: ${counts}, unless ${name} withdraws it`)
}
