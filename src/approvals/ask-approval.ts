import { hash } from 'node:crypto'
import { appendAuditEntry } from '../audit/append.ts'
import { canonicalJson, type Json } from '../base/json.ts'
import { Problem } from '../base/problem.ts'
import { type Ctx, inDurableTx, type Tx } from '../ctx/ctx.ts'
import { waitFor } from '../ctx/wait-for.ts'
import { toIsoTime } from '../ctx/world.ts'
import { appendEvents } from '../events/append-events.ts'
import { notifyProjectChange } from '../events/project-changes.ts'
import { queueWebhookDeliveries } from '../events/webhook-events.ts'
import { approvalExpiresAt } from '../lifecycle/expire-approvals.ts'
import { parkTask } from '../lifecycle/park-task.ts'
import { findApprovalDecision } from '../lifecycle/rows.ts'
import type { ApprovalRow } from '../store/tables.ts'
import { applyPolicy } from './apply-policy.ts'
import type { GatedRequest, GatedRun } from './gated-request.ts'
import { insertApproval } from './rows.ts'

/** The action may not be performed: its approval was rejected, expired or already used, its run ended, or the payload differs. */
export class ApprovalRefusal extends Problem {
  constructor(problem: string) {
    super(403, `approval ${problem}`)
  }
}

/** Asks for an approval and waits for the decision. Returns only if the stored row is approved or auto_approved. */
export async function askApproval(ctx: Ctx, run: GatedRun, request: GatedRequest): Promise<ApprovalRow> {
  const requested = await inDurableTx(ctx, (tx) => requestApproval(tx, run, request), run.over.signal)
  const decided = requested.status === 'pending' ? await waitForDecision(ctx, requested, run.over.signal) : requested
  if (decided.status !== 'approved' && decided.status !== 'auto_approved') throw new ApprovalRefusal(decided.status)
  return decided
}

export function hashPayload(payload: Json): string {
  return hash('sha256', canonicalJson(payload))
}

/**
 * Writes in one transaction: the policy counters, the approval and its event; then the audit entry of an automatic approval,
 * or the webhook deliveries and the status of the task that waits for a person.
 */
async function requestApproval(tx: Tx, run: GatedRun, request: GatedRequest): Promise<ApprovalRow> {
  const now = tx.world.clock.now()
  const policy = await applyPolicy(tx, run, request)
  const isAutoApproved = policy.rule !== null
  const row: ApprovalRow = {
    id: tx.world.newId('apr'),
    project_id: run.projectId,
    task_id: run.taskId,
    wedge: run.wedge.slug,
    task_type: run.taskType,
    action: request.action,
    risk: request.risk,
    path: request.path,
    payload: JSON.stringify(request.payload),
    payload_sha256: hashPayload(request.payload),
    edited: null,
    status: isAutoApproved ? 'auto_approved' : 'pending',
    policy_reason: policy.reason,
    policy_rule: policy.rule && JSON.stringify(policy.rule),
    reason: null,
    note: null,
    connection_id: request.connection?.id ?? null,
    connection: request.connection?.name ?? null,
    created_at: toIsoTime(now),
    expires_at: isAutoApproved ? null : approvalExpiresAt(tx, now),
    decided_at: isAutoApproved ? toIsoTime(now) : null,
    decided_by_kind: isAutoApproved ? 'system' : null,
    decided_by_id: isAutoApproved ? 'policy' : null,
  }
  await insertApproval(tx.db, row)
  if (isAutoApproved) await recordAutoApproval(tx, run, row, policy.reason)
  else await requestDecision(tx, run, row, request.payload)
  return row
}

async function recordAutoApproval(tx: Tx, run: GatedRun, row: ApprovalRow, policy_reason: string): Promise<void> {
  const { id: approval_id, action } = row
  await appendEvents(tx, run, [
    { type: 'approval.resolved', data: { approval_id, action, decision: 'auto_approved', policy_reason } },
  ])
  const data = { action, task_id: row.task_id, payload_sha256: row.payload_sha256, policy_reason }
  await appendAuditEntry(tx, row.project_id, { kind: 'system', id: 'policy' }, 'approval.auto_approved', row.id, data)
}

async function requestDecision(tx: Tx, run: GatedRun, row: ApprovalRow, preview: Json): Promise<void> {
  const { id: approval_id, project_id, action, risk, connection, expires_at } = row
  const connectionField = connection === null ? {} : { connection }
  const data = { approval_id, action, risk, ...connectionField, preview, expires_at: expires_at ?? '' }
  notifyProjectChange(tx, project_id, { kind: 'approval', id: row.id, status: row.status })
  await parkTask(tx, run, { type: 'approval.requested', data })
  await queueWebhookDeliveries(tx, project_id, 'approval.requested', row.id)
}

/** How often to check for a decision on PostgreSQL, because a notification from another replica can get lost. */
const POLL_MS = 700

async function waitForDecision(ctx: Ctx, requested: ApprovalRow, signal: AbortSignal): Promise<ApprovalRow> {
  const decision = await waitFor(ctx, {
    topic: { topic: 'approval-decided', id: requested.id },
    signal,
    pollMs: POLL_MS,
    async check() {
      const [current] = await findApprovalDecision(ctx.db, { id: requested.id })
      return current && current.status !== 'pending' ? current : null
    },
  })
  if (!decision) throw new ApprovalRefusal('withdrawn')
  return { ...requested, ...decision }
}
