import { z } from 'zod'
import { nameActors } from '../../identity/organisations/actor-name-rows.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { conflict, forbidden } from '../../platform/base/problem.ts'
import type { JsonObject } from '../../platform/base/json.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import { type Actor, SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'
import { isoNow, toIsoTime } from '../../platform/ctx/world.ts'
import { publishSameStatus } from '../../work/events/project-changes.ts'
import type { ApprovalRow } from '../../platform/store/tables.ts'
import { lockTask } from '../../work/tasks/rows.ts'
import type { Approver } from '../people/approvers.ts'
import { alreadyDecided } from '../people/cast-vote.ts'
import { lockForDecision, prepareApproval } from './decide-approval.ts'
import { type DroppedApproval, type HeldApproval, parseHeld } from '../requests/held-approval.ts'
import { findHeldApproval, updateApprovalHeld, updateApprovalReleased } from '../requests/held-rows.ts'
import type { DecidableApproval } from '../requests/rows.ts'

const MAX_HOLD_S = 60

/** The field `hold_s` of an approval. */
export const holdParam = z.number().int().min(0).max(MAX_HOLD_S).optional().meta({
  description: 'For this many seconds the caller can withdraw the approval, and it has no effect before.',
})

/**
 * Approves after this many seconds, unless the person withdraws it. Until then nothing is written but the hold: the approval stays
 * pending, does not expire, and takes no other decision. `commitDueHolds` makes the approval.
 */
export async function holdApproval(
  ctx: Ctx,
  approver: Approver,
  approval: DecidableApproval,
  { edited, note, holdS }: { edited?: JsonObject | undefined; note?: string | undefined; holdS: number },
): Promise<{ decision: 'held' }> {
  const { actor, role, linkHash = null } = approver
  if (role === undefined) throw forbidden('only a member or a key can hold an approval')
  // Throws now, and not when the person is gone.
  await prepareApproval(ctx, approval, edited)
  return inTx(ctx, async (tx) => {
    // The link is used when the approval is made, so that it can withdraw it.
    await lockForDecision(tx, approval, { actor, role })
    const now = tx.world.clock.now()
    const held: HeldApproval = {
      by: { kind: actor.kind, id: actor.id },
      role,
      made_at: toIsoTime(now),
      edited: edited ?? null,
      note: note ?? null,
      link_hash: linkHash,
    }
    const { id, payload_sha256 } = approval
    const held_until = toIsoTime(now + holdS * 1000)
    const stored = { held: JSON.stringify(held), held_until, held_by_id: actor.id }
    const change = { id, payload_sha256, ...stored, now: held.made_at }
    if ((await updateApprovalHeld(tx.db, change)).length === 0) throw await alreadyDecided(tx, id, actor)
    const data = { payload_sha256, until: held_until, edited: held.edited !== null }
    await recordHoldChange(tx, actor, approval, 'approval.held', data)
    return { decision: 'held' }
  })
}

type HeldRequest = Pick<ApprovalRow, 'id' | 'project_id' | 'task_id' | 'action'>

/** Withdraws the approval that this person has made and that is still held. The request is pending as before. */
export function withdrawHeldApproval(ctx: Ctx, actor: Actor, approval: HeldRequest): Promise<void> {
  return inTx(ctx, async (tx) => {
    await lockTask(tx.db, { id: approval.task_id })
    const [row] = await findHeldApproval(tx.db, { id: approval.id })
    if (row?.status !== 'pending') throw await alreadyDecided(tx, approval.id, actor)
    const held = parseHeld(row)
    if (!held || row.held_until === null) throw conflict('no approval of this request is held')
    if (held.by.kind !== actor.kind || held.by.id !== actor.id) {
      const name = (await nameActors(tx.db, [held.by]))(held.by.kind, held.by.id)?.name ?? 'the person who approved'
      throw forbidden(`only ${name} can withdraw this approval`)
    }
    await updateApprovalReleased(tx.db, { id: approval.id, held_until: row.held_until, dropped: null })
    await recordHoldChange(tx, actor, approval, 'approval.withdrawn', {})
  })
}

/** Ends a hold whose approval cannot be made. The request is pending as before, and its person can read the reason. */
export function dropHold(
  ctx: Ctx,
  approval: HeldRequest & { held_until: string | null },
  { by, reason }: Pick<DroppedApproval, 'by' | 'reason'>,
): Promise<void> {
  return inTx(ctx, async (tx) => {
    await lockTask(tx.db, { id: approval.task_id })
    const { id, held_until } = approval
    const dropped = JSON.stringify({ by, at: isoNow(tx), reason } satisfies DroppedApproval)
    const [released] = await updateApprovalReleased(tx.db, { id, held_until: held_until ?? '', dropped })
    if (released) await recordHoldChange(tx, SYSTEM_ACTOR, approval, 'approval.withdrawn', { reason })
  })
}

async function recordHoldChange(
  tx: Tx,
  actor: Actor,
  { id, project_id, task_id, action }: HeldRequest,
  entry: 'approval.held' | 'approval.withdrawn',
  data: JsonObject,
): Promise<void> {
  publishSameStatus(tx, project_id, { kind: 'approval', id, status: 'pending' })
  await appendAuditEntry(tx, project_id, actor, entry, id, { action, task_id, ...data })
}
