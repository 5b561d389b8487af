import { findApiKey } from '../../identity/authentication/credential-rows.ts'
import { forbidden, Problem } from '../../platform/base/problem.ts'
import type { Ctx, Tx } from '../../platform/ctx/ctx.ts'
import { sleep, toIsoTime } from '../../platform/ctx/world.ts'
import { StoreUnavailable } from '../../platform/store/errors.ts'
import { approveApproval } from './decide-approval.ts'
import { type HeldApproval, parseHeld } from '../requests/held-approval.ts'
import { type DueHold, listDueHolds, updateApprovalReleased } from '../requests/held-rows.ts'
import { dropHold } from './hold-approval.ts'

/** Uses up the decision link with this hash, in the transaction of the approval. */
export type UseLink = (tx: Tx, hash: string, now: string) => Promise<void>

/** The time between two rounds: a hold that ends before the next round is committed in this one, when it ends. */
const ROUND_MS = 1_000

/** How long an approval is tried again after unexpected errors. */
const RETRY_MS = 60_000

/** Makes the approvals whose holds end, each once over all replicas, whichever replica has stored them. */
export async function commitDueHolds(ctx: Ctx, useLink: UseLink, stopping: AbortSignal): Promise<void> {
  const { clock } = ctx.world
  for (const hold of await listDueHolds(ctx.db, { until: toIsoTime(clock.now() + ROUND_MS) })) {
    const waitMs = Date.parse(hold.held_until ?? '') - clock.now()
    if (waitMs > 0) await sleep(clock, waitMs, stopping)
    if (stopping.aborted) return
    await commitHold(ctx, useLink, hold)
  }
}

/** Makes one approval with every check of a decision. If one of them fails, the request is pending again; after an unexpected error the next round tries again. */
async function commitHold(ctx: Ctx, useLink: UseLink, hold: DueHold): Promise<void> {
  const held = parseHeld(hold)
  if (!held) return
  const approver = {
    actor: held.by,
    useCredential: async (tx: Tx) => {
      const [released] = await updateApprovalReleased(tx.db, {
        id: hold.id,
        held_until: hold.held_until ?? '',
        dropped: null,
      })
      if (!released) throw new HoldEnded()
      if (held.link_hash !== null) await useLink(tx, held.link_hash, held.made_at)
    },
  }
  const decision = { edited: held.edited ?? undefined, note: held.note ?? undefined, madeAt: held.made_at }
  try {
    await approveApproval(ctx, { ...approver, role: await currentRole(ctx, hold, held) }, hold, decision)
  } catch (error) {
    if (error instanceof HoldEnded) return
    if (error instanceof StoreUnavailable) throw error
    if (error instanceof Problem && error.status < 500)
      return dropHold(ctx, hold, { by: held.by, reason: error.message })
    ctx.world.log.error({ err: error, approval: hold.id }, 'a held approval failed')
    const overdueMs = ctx.world.clock.now() - Date.parse(hold.held_until ?? '')
    if (overdueMs >= RETRY_MS) await dropHold(ctx, hold, { by: held.by, reason: 'the service failed' })
  }
}

/** Another replica has made the approval, or its person has withdrawn it. */
class HoldEnded extends Error {}

/** The role of a member is read again with the approval itself; a key that was revoked has none. */
async function currentRole(ctx: Ctx, { project_id }: DueHold, { by, role }: HeldApproval) {
  if (by.kind === 'key' && !(await findApiKey(ctx.db, [project_id], by.id))) throw forbidden('the API key was revoked')
  return role
}
