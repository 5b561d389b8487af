import { hash } from 'node:crypto'
import { countRunBytes, runStorageFull } from '../../identity/limits/storage-usage.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { canonicalJson, type Json } from '../../platform/base/json.ts'
import { Problem, tooManyRequests } from '../../platform/base/problem.ts'
import { type Ctx, inDurableTx, type Tx } from '../../platform/ctx/ctx.ts'
import { waitFor } from '../../platform/ctx/wait-for.ts'
import { toIsoTime } from '../../platform/ctx/world.ts'
import { appendEvents } from '../../work/events/append-events.ts'
import { publishProjectChange } from '../../work/events/project-changes.ts'
import { queueWebhookDeliveries } from '../../work/events/webhook-events.ts'
import { addDecisionToReports } from '../lifecycle/add-to-reports.ts'
import { approvalExpiresAt } from '../lifecycle/expire-approvals.ts'
import { makeTaskWait } from '../lifecycle/wait-and-resume.ts'
import { findApprovalDecision } from '../lifecycle/rows.ts'
import type { ApprovalRow } from '../../platform/store/tables.ts'
import { describeAction } from '../policy/action-text.ts'
import { applyPolicy } from '../policy/apply-policy.ts'
import { approverColumns } from '../policy/approver-columns.ts'
import { firstNoticeAt } from './notice-times.ts'
import type { GatedRequest, GatedRun } from '../policy/gated-request.ts'
import { insertApproval } from './rows.ts'
import { tellClient } from './client-text.ts'
import { askedField } from './view.ts'

/** The action may not be performed: its approval was rejected, expired or already used, its run ended, or the payload differs. */
export class ApprovalRefusal extends Problem {
  constructor(problem: string) {
    super(403, `approval ${problem}`)
  }
}

/** A person sent the request back with a note. The run continues, and its agent may ask for something better. */
export class RevisionRequested extends Problem {
  readonly approvalId: string
  readonly note: string
  constructor({ id, reason }: Pick<ApprovalRow, 'id' | 'reason'>) {
    super(409, `a person sent this back: ${reason}`)
    this.approvalId = id
    this.note = reason ?? ''
  }
}

/** Asks for an approval and waits for the decision. Returns only if the stored row is approved or auto_approved. */
export async function askApproval(ctx: Ctx, run: GatedRun, request: GatedRequest): Promise<ApprovalRow> {
  return requireApproved(await askDecision(ctx, run, request))
}

/** Waits for the decision on an approval that an earlier process of the run asked for. */
export async function waitForApproval(ctx: Ctx, run: GatedRun, requested: ApprovalRow): Promise<ApprovalRow> {
  return requireApproved(await waitForDecision(ctx, run, requested))
}

/** A cancel can follow the revision and ends the run; it does not change the approval. */
export const isSentBack = ({ status, revise }: Pick<ApprovalRow, 'status' | 'revise'>): boolean =>
  status === 'rejected' && revise === 1

function requireApproved(decided: ApprovalRow): ApprovalRow {
  if (isSentBack(decided)) throw new RevisionRequested(decided)
  if (decided.status !== 'approved' && decided.status !== 'auto_approved') throw new ApprovalRefusal(decided.status)
  return decided
}

/** Writes more in the transaction of an approval, after the change of the task and before the audit entry. */
export type ExtraWrites = (tx: Tx) => Promise<void>

/**
 * Stores a request and waits for the decision, whatever it is. A run that continues repeats its last request, and then
 * gets the decision on the earlier one.
 */
export async function askDecision(
  ctx: Ctx,
  run: GatedRun,
  request: GatedRequest,
  writeExtra: ExtraWrites = async () => {},
): Promise<ApprovalRow> {
  const earlier = run.takeEarlierApproval(request.key)
  if (earlier) return waitForDecision(ctx, run, earlier)
  // The event of the request contains the payload.
  if (!countRunBytes(ctx.config, run.usage, Buffer.byteLength(JSON.stringify(request.payload))))
    throw runStorageFull(ctx.config)
  try {
    const requested = await inDurableTx(ctx, (tx) => requestApproval(tx, run, request, writeExtra), run.over.signal)
    return await waitForDecision(ctx, run, requested)
  } finally {
    run.pendingRequests.delete(request)
  }
}

/** One run must not fill the list of approvals, which people read. */
const MAX_PENDING_PER_RUN = 20

/** A transaction may run again, so a request that is counted already is not counted twice. */
function countPendingRequest({ pendingRequests }: GatedRun, request: GatedRequest): void {
  if (!pendingRequests.has(request) && pendingRequests.size >= MAX_PENDING_PER_RUN)
    throw tooManyRequests(`the run already has ${MAX_PENDING_PER_RUN} pending approvals: wait for a decision`, 1)
  pendingRequests.add(request)
}

export function hashPayload(payload: Json): string {
  return hash('sha256', canonicalJson(payload))
}

/**
 * Writes in one transaction: the policy counters, the approval and its event; then the audit entry of an automatic approval,
 * or the webhook deliveries and the status of the task that waits for a person.
 */
async function requestApproval(
  tx: Tx,
  run: GatedRun,
  request: GatedRequest,
  writeExtra: ExtraWrites,
): Promise<ApprovalRow> {
  const now = tx.world.clock.now()
  const policy = await applyPolicy(tx, run, request)
  const isAutoApproved = policy.rule !== null
  if (!isAutoApproved) countPendingRequest(run, request)
  const approverFields = approverColumns(run, request, isAutoApproved)
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
    revise: 0,
    note: null,
    connection_id: request.connection?.id ?? null,
    connection: request.connection?.name ?? null,
    tool: request.tool ? JSON.stringify(request.tool) : null,
    created_at: toIsoTime(now),
    expires_at: isAutoApproved
      ? null
      : approvalExpiresAt(tx, run.wedge, { ...request, clientId: approverFields.client_id }, now),
    decided_at: isAutoApproved ? toIsoTime(now) : null,
    decided_by_kind: isAutoApproved ? 'system' : null,
    decided_by_id: isAutoApproved ? 'policy' : null,
    ...approverFields,
    escalated_at: null,
    notify_at: null,
    assignee_id: null,
    version: 0,
    has_messages: 0,
    held_until: null,
    held: null,
    held_by_id: null,
    dropped: null,
  }
  if (!isAutoApproved) row.notify_at = await firstNoticeAt(tx, row)
  await insertApproval(tx.db, row)
  if (isAutoApproved) await recordAutoApproval(tx, run, row, policy.reason)
  else await requestDecision(tx, run, row, request, writeExtra)
  await run.saveRequest(tx, row, request)
  return row
}

async function recordAutoApproval(tx: Tx, run: GatedRun, row: ApprovalRow, policy_reason: string): Promise<void> {
  const { id: approval_id, action } = row
  addDecisionToReports(tx, row)
  await appendEvents(tx, run, [
    { type: 'approval.resolved', data: { approval_id, action, decision: 'auto_approved', policy_reason } },
  ])
  const data = { action, task_id: row.task_id, payload_sha256: row.payload_sha256, policy_reason }
  await appendAuditEntry(tx, row.project_id, { kind: 'system', id: 'policy' }, 'approval.auto_approved', row.id, data)
}

async function requestDecision(
  tx: Tx,
  run: GatedRun,
  row: ApprovalRow,
  { payload: preview, tool = null }: GatedRequest,
  writeExtra: ExtraWrites,
): Promise<void> {
  const { id: approval_id, project_id, action, risk, connection, expires_at } = row
  const named = tool && describeAction(tool, row, preview)
  const optional = { ...(connection !== null && { connection }), ...named, ...askedField(row) }
  const data = { approval_id, action, risk, ...optional, preview, expires_at: expires_at ?? '' }
  publishProjectChange(tx, project_id, { kind: 'approval', id: row.id, status: row.status })
  await makeTaskWait(tx, run, { type: 'approval.requested', data })
  await writeExtra(tx)
  await tellClient(tx, run, row)
  await queueWebhookDeliveries(tx, project_id, 'approval.requested', row.id)
}

/** How often to check for a decision on PostgreSQL, because a hint from another replica can get lost. */
const POLL_MS = 700

async function waitForDecision(ctx: Ctx, run: GatedRun, requested: ApprovalRow): Promise<ApprovalRow> {
  if (requested.status !== 'pending') return requested
  const wait = {
    topic: { topic: 'approval-decided', id: requested.id } as const,
    signal: run.over.signal,
    pollMs: POLL_MS,
    async check() {
      const [current] = await findApprovalDecision(ctx.db, { id: requested.id })
      return current && current.status !== 'pending' ? current : null
    },
  }
  const decision = await run.whileWaiting(() => waitFor(ctx, wait))
  if (!decision) throw new ApprovalRefusal('withdrawn')
  return { ...requested, ...decision }
}
