import { hash } from 'node:crypto'
import { appendAuditEntry } from '../audit/append.ts'
import { canonicalJson, type Json } from '../base/json.ts'
import { Problem } from '../base/problem.ts'
import { type Ctx, inDurableTx, type Tx } from '../ctx/ctx.ts'
import { waitFor } from '../ctx/wait-for.ts'
import { toIsoTime } from '../ctx/world.ts'
import { appendEvents, RunEndedError, writeEvents } from '../events/append-events.ts'
import { notifyProjectChange } from '../events/project-changes.ts'
import { queueWebhookDeliveries } from '../events/webhook-events.ts'
import type { ApprovalRow } from '../store/tables.ts'
import { updateTaskWaiting } from '../lifecycle/rows.ts'
import type { GatedRun, GatedRequest } from './gated-request.ts'
import { applyPolicy } from './apply-policy.ts'
import { findApprovalDecision, insertApproval } from './rows.ts'

/** A person said no, nobody said yes in time, or the run is over. */
export class ApprovalRefusal extends Problem {
  constructor(status: string) {
    super(403, `approval ${status}`)
  }
}

/** Asks the gate and waits for the answer. Only a row that says approved or auto_approved lets anything pass. */
export async function askApproval(ctx: Ctx, run: GatedRun, request: GatedRequest): Promise<ApprovalRow> {
  const asked = await inDurableTx(ctx, (tx) => requestApproval(tx, run, request), run.over.signal)
  const answered = asked.status === 'pending' ? await waitForDecision(ctx, asked, run.over.signal) : asked
  if (answered.status !== 'approved' && answered.status !== 'auto_approved') throw new ApprovalRefusal(answered.status)
  return answered
}

export function hashPayload(payload: Json): string {
  return hash('sha256', canonicalJson(payload))
}

/** One transaction: the policy's answer with its counters, the row, the event and the task's status. */
async function requestApproval(tx: Tx, run: GatedRun, request: GatedRequest): Promise<ApprovalRow> {
  const now = tx.world.clock.now()
  const verdict = await applyPolicy(tx, run, request)
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
    status: verdict ? 'auto_approved' : 'pending',
    policy_reason: verdict?.reason ?? null,
    policy_rule: verdict ? JSON.stringify(verdict.rule) : null,
    reason: null,
    note: null,
    connection_id: request.connection?.id ?? null,
    connection: request.connection?.name ?? null,
    created_at: toIsoTime(now),
    expires_at: verdict ? null : toIsoTime(now + tx.config.approvalTtlS * 1000),
    decided_at: verdict ? toIsoTime(now) : null,
    decided_by_kind: verdict ? 'system' : null,
    decided_by_id: verdict ? 'policy' : null,
  }
  await insertApproval(tx.db, row)
  if (verdict) await recordAutoApproval(tx, run, row, verdict.reason)
  else await waitForPerson(tx, run, row, request.payload)
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

async function waitForPerson(tx: Tx, run: GatedRun, row: ApprovalRow, preview: Json): Promise<void> {
  const [head] = await updateTaskWaiting(tx.db, { id: run.taskId, epoch: run.epoch })
  if (!head) throw new RunEndedError()
  const { id: approval_id, action, risk, connection, expires_at } = row
  const through = connection === null ? {} : { connection }
  const data = { approval_id, action, risk, ...through, preview, expires_at: expires_at ?? '' }
  await writeEvents(tx, run.taskId, head.last_event_id, [{ type: 'approval.requested', data }])
  await queueWebhookDeliveries(tx, row.project_id, 'approval.requested', row.id)
  notifyProjectChange(tx, row.project_id, { kind: 'approval', id: row.id, status: row.status })
  notifyProjectChange(tx, row.project_id, { kind: 'task', id: row.task_id, status: 'awaiting_approval' })
}

/** A decision on another replica rings too, unless the ring was lost. */
const POLL_MS = 700

async function waitForDecision(ctx: Ctx, asked: ApprovalRow, signal: AbortSignal): Promise<ApprovalRow> {
  const decided = await waitFor(ctx, {
    topic: { topic: 'approval-decided', id: asked.id },
    signal,
    pollMs: POLL_MS,
    async check() {
      const [now] = await findApprovalDecision(ctx.db, { id: asked.id })
      return now && now.status !== 'pending' ? now : null
    },
  })
  if (!decided) throw new ApprovalRefusal('withdrawn')
  return { ...asked, ...decided }
}
