import { MESSAGE_TEXTS } from '../../../client-text/languages.ts'
import { findBrand } from '../../customers/brand/rows.ts'
import { appendNotice } from '../../customers/threads/reply.ts'
import { approvalTtlS } from '../../platform/contract/wedge/declared-approvals.ts'
import type { Wedge } from '../../platform/contract/wedge/wedge-manifest.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'
import { isoNow, toIsoTime } from '../../platform/ctx/world.ts'
import { findTaskUnscoped, lockTask } from '../../work/tasks/rows.ts'
import { closeApprovalsOfTask } from './close-approvals.ts'
import { endTask } from './end-task.ts'
import { type DueApproval, findApprovalDecision, listDueApprovals } from './rows.ts'

/**
 * The expiry of approvals: when, and what happens then.
 *
 * - A request gets its `expires_at` here, from `ttl_s` of its wedge or the setting `SVC_APPROVAL_TTL_S` (five
 *   minutes; seven days for a reply to a client, and for what a client is asked).
 * - A decision after `expires_at` is refused, even if the sweep has not run yet (`updateApprovalDecision`). An approval that
 *   was made before and is held still counts.
 * - The sweep ends the task as `expired` and notifies its client in the thread. `server/replica/sweeps.ts` runs it every
 *   second, on every replica.
 */
export function approvalExpiresAt(
  { config }: Pick<Ctx, 'config'>,
  { manifest }: Wedge,
  { action, threadId, clientId }: { action: string; threadId?: string | null; clientId?: string | null },
  requestedAtMs: number,
): string {
  const defaultS = threadId || clientId ? config.replyTtlS : config.approvalTtlS
  return toIsoTime(requestedAtMs + approvalTtlS(manifest, action, defaultS) * 1000)
}

/** Expires the approvals that are due, each once over all replicas. Returns how many were due. */
export async function expireDueApprovals(ctx: Ctx): Promise<number> {
  const due = await listDueApprovals(ctx.db, { now: isoNow(ctx) })
  for (const approval of due) await inTx(ctx, (tx) => expireApproval(tx, approval))
  return due.length
}

async function expireApproval(tx: Tx, due: DueApproval): Promise<void> {
  const { id, task_id: taskId } = due
  const [task] = await lockTask(tx.db, { id: taskId })
  const [current] = await findApprovalDecision(tx.db, { id })
  if (current?.status !== 'pending' || current.held_until !== null) return
  if (task?.status !== 'awaiting_approval') {
    // The task has already ended, and its approval must not stay pending.
    await closeApprovalsOfTask(tx, taskId, 'expired', SYSTEM_ACTOR)
    return
  }
  const row = await findTaskUnscoped(tx.db, taskId)
  // Before the end of the task, because every writer locks a thread before the audit log.
  if (row) {
    const { language } = await findBrand(tx.db, row.project_id)
    await appendNotice(tx, row, MESSAGE_TEXTS[language][noticeKind(due)])
  }
  const message = 'no decision before the approval expired; retry the task to run it again'
  await endTask(tx, taskId, { status: 'expired', error: { reason: 'expired', message } })
}

/** Which notice the client gets. */
function noticeKind({ path, client_id }: DueApproval) {
  if (client_id === null) return 'noDecision'
  return path === 'question' ? 'noAnswer' : 'noApproval'
}
