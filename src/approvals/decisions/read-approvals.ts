import { nameActors } from '../../identity/organisations/actor-name-rows.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ApprovalRow } from '../../platform/store/tables.ts'
import { listApprovalContexts } from '../requests/context-rows.ts'
import { listCurrentVotes } from '../people/current-votes.ts'
import { parseDropped, parseHeld } from '../requests/held-approval.ts'
import { findHeldApproval } from '../requests/held-rows.ts'
import { toHeldView } from '../requests/held-view.ts'
import type { DecisionOutcome } from './apply-decision.ts'
import { toApprovalView, toVoteViews } from '../requests/view.ts'

/** Approvals with what they are about, the votes, and the names of everyone they mention. */
export async function readApprovalViews(db: Db, rows: readonly ApprovalRow[]) {
  const contexts = new Map(
    (
      await listApprovalContexts(
        db,
        rows.map(({ id }) => id),
      )
    ).map((context) => [context.approval_id, context]),
  )
  const votes = await listCurrentVotes(
    db,
    rows.flatMap(({ id, needed }) => (needed > 1 ? [id] : [])),
  )
  const nameOf = await nameActors(db, [
    ...rows.map((row) => ({ kind: row.decided_by_kind, id: row.decided_by_id })),
    ...rows.map((row) => ({ kind: 'member', id: row.assignee_id })),
    ...rows.flatMap((row) => parseHeld(row)?.by ?? parseDropped(row)?.by ?? []),
    ...votes.map((vote) => ({ kind: vote.voter_kind, id: vote.voter_id })),
    ...[...contexts.values()].map((one) => ({ kind: one.requested_by_kind, id: one.requested_by_id })),
  ])
  return rows.map((row) => {
    const context = contexts.get(row.id)
    if (!context) throw new Error(`approval ${row.id} has no task`)
    return toApprovalView(row, { context, votes: votes.filter((vote) => vote.approval_id === row.id), nameOf })
  })
}

export async function readApprovalView(db: Db, row: ApprovalRow) {
  const [view] = await readApprovalViews(db, [row])
  if (!view) throw new Error(`no view of approval ${row.id}`)
  return view
}

/** The answer to a member or key that decided: the decision, pending with the votes so far, or what is held. */
export async function readDecisionResult(db: Db, approvalId: string, outcome: DecisionOutcome) {
  if (outcome.decision === 'held')
    return { ok: true, decision: 'held', held: await readHeldView(db, approvalId) } as const
  if (outcome.decision !== 'pending') return { ok: true, decision: outcome.decision } as const
  return { ok: true, ...outcome, votes: await readVoteViews(db, approvalId) } as const
}

async function readHeldView(db: Db, id: string) {
  const [row] = await findHeldApproval(db, { id })
  const held = row && parseHeld(row)
  return held ? toHeldView(row, await nameActors(db, [held.by])) : null
}

async function readVoteViews(db: Db, approvalId: string) {
  const votes = await listCurrentVotes(db, [approvalId])
  const nameOf = await nameActors(
    db,
    votes.map((vote) => ({ kind: vote.voter_kind, id: vote.voter_id })),
  )
  return toVoteViews(votes, nameOf)
}
