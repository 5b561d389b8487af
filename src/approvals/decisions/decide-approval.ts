import { appendAuditEntry } from '../../audit/append.ts'
import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'
import { badRequest, conflict } from '../../platform/base/problem.ts'
import { updateThreadReadByTask } from '../../customers/threads/thread-state-rows.ts'
import { listFileReferences } from '../../platform/contract/file-reference.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import type { NewEvent } from '../../work/events/event-types.ts'
import { publishProjectChange } from '../../work/events/project-changes.ts'
import { resolvePayloadFiles } from '../../work/files/payload-files.ts'
import { recordCorrection } from '../../wedges/knowledge/corrections.ts'
import { endTask } from '../lifecycle/end-task.ts'
import { addDecisionToReports } from '../lifecycle/add-to-reports.ts'
import { resumeTask } from '../lifecycle/wait-and-resume.ts'
import type { TaskEnding } from '../lifecycle/task-ending.ts'
import { findApprovalDecision } from '../lifecycle/rows.ts'
import type { ApprovalRow } from '../../platform/store/tables.ts'
import { findTaskUnscoped, type LockedTask, lockTask } from '../../work/tasks/rows.ts'
import { type Approver, requireApprover } from '../people/approvers.ts'
import { alreadyDecided, castVote } from '../people/cast-vote.ts'
import { checkEditedPayload } from '../requests/payload-schema.ts'
import { type ExtraWrites, hashPayload } from '../requests/ask-approval.ts'
import { toAnswer } from '../requests/question.ts'
import { type DecidableApproval, findDecidableUnscoped, updateApprovalDecision } from '../requests/rows.ts'
import { approvedPayload, askedField, parseEdit, parseProposedPayload } from '../requests/view.ts'

/** What an approval has become: decided, or still pending because more people must approve. */
export type ApprovalOutcome = { decision: 'approved' } | { decision: 'pending'; votes: number; needed: number }

interface GivenApproval {
  edited?: JsonObject | undefined
  note?: string | undefined
  /** When the person decided, if that was earlier; see `holdApproval`. */
  madeAt?: string | undefined
}

/**
 * Approves the action as proposed or as edited, or answers the question. The run continues, unless more people must
 * approve the same payload. 409 if another person has changed the payload since `approval` was read.
 */
export async function approveApproval(
  ctx: Ctx,
  approver: Approver,
  approval: DecidableApproval,
  { edited, note, madeAt }: GivenApproval,
  writeExtra: ExtraWrites = async () => {},
): Promise<ApprovalOutcome> {
  const { row, payload } = await prepareApproval(ctx, approval, edited)
  return inTx(ctx, async (tx) => {
    const task = await lockForDecision(tx, approval, approver)
    await markRead(tx, task, approver.actor)
    const votes = row.needed > 1 ? await castVote(tx, row, approver.actor, madeAt ?? isoNow(tx)) : 1
    if (votes < row.needed) return { decision: 'pending', votes, needed: row.needed }
    await writeApproval(tx, task, approver.actor, { row, payload, note, madeAt }, writeExtra)
    return { decision: 'approved' }
  })
}

/** The approval with the edit; throws a 400 for an edit that it cannot have. */
export async function prepareApproval(
  ctx: Ctx,
  approval: DecidableApproval,
  edited: JsonObject | undefined,
): Promise<{ row: DecidableApproval; payload: Json }> {
  const payload = parseProposedPayload(approval)
  const edit = await resolveEditedFiles(ctx, approval, acceptedEdit(approval, payload, edited))
  const row = { ...approval, edited: mergeEdits(approval, edit) }
  if (edit && row.path === 'action') await checkEditedPayload(ctx, row)
  return { row, payload }
}

/** An earlier voter may have edited the payload. The fields of the new edit replace those of the payload as it is now. */
const mergeEdits = (approval: DecidableApproval, edit: JsonObject | null): string | null =>
  edit === null ? approval.edited : JSON.stringify({ ...parseEdit(approval), ...edit })

async function writeApproval(
  tx: Tx,
  task: LockedTask,
  actor: Actor,
  { row, payload, note, madeAt }: Pick<GivenApproval, 'note' | 'madeAt'> & { row: DecidableApproval; payload: Json },
  writeExtra: ExtraWrites,
): Promise<void> {
  const comment = { note: note ?? null, reason: null, revise: 0, madeAt } as const
  const payload_sha256 = await decidePendingApproval(tx, row, 'approved', actor, comment)
  // An answer is not a correction of the question.
  const isCorrection = row.edited !== null && row.path === 'action' && isJsonObject(payload)
  const corrected = isCorrection ? await recordEdit(tx, actor, row, payload) : []
  await resumeTask(tx, task, [resolvedEvent(row, 'approved', actor), ...corrected])
  await writeExtra(tx)
  await appendAuditEntry(tx, row.project_id, actor, 'approval.approved', row.id, {
    action: row.action,
    task_id: row.task_id,
    payload_sha256,
    edited: row.edited !== null,
    ...(note !== undefined && { note }),
  })
}

/** What the approver changes; null if nothing. The service cannot change a tool call, which the agent makes itself. */
function acceptedEdit({ path }: DecidableApproval, payload: Json, edited: JsonObject | undefined): JsonObject | null {
  if (path === 'question') return toAnswer(payload, edited)
  if (path !== 'action' || !edited) return null
  if (!isJsonObject(payload)) throw badRequest("field 'edited' needs a payload that is an object")
  return edited
}

/** An approver may add files of the team and of the task's client. */
async function resolveEditedFiles(
  ctx: Ctx,
  { path, project_id: projectId, task_id }: DecidableApproval,
  edit: JsonObject | null,
): Promise<JsonObject | null> {
  if (edit === null || path !== 'action' || listFileReferences(edit).length === 0) return edit
  const task = await findTaskUnscoped(ctx.db, task_id)
  return resolvePayloadFiles(ctx.db, { projectId, clientId: task?.client_id ?? null }, edit)
}

/**
 * Rejects the action, which ends the whole task: a rejection does not skip one step. A rejected question only has no
 * answer, and its task continues.
 */
export function rejectApproval(
  ctx: Ctx,
  approver: Approver,
  row: DecidableApproval,
  reason: string | undefined,
): Promise<void> {
  const { actor } = approver
  return inTx(ctx, async (tx) => {
    const task = await lockForDecision(tx, row, approver)
    await markRead(tx, task, approver.actor)
    await decidePendingApproval(tx, row, 'rejected', actor, { reason: reason ?? null, revise: 0, note: null })
    const resolved = resolvedEvent(row, 'rejected', actor)
    if (row.path === 'question') await resumeTask(tx, task, [resolved])
    else await endTask(tx, row.task_id, rejectedEnding(row, resolved))
    const data = { action: row.action, task_id: row.task_id, ...(reason !== undefined && { reason }) }
    await appendAuditEntry(tx, row.project_id, actor, 'approval.rejected', row.id, data)
  })
}

/** Sends the request back: the approval is rejected, and the run continues with the note as the result of its request. */
export function reviseApproval(ctx: Ctx, approver: Approver, row: DecidableApproval, note: string): Promise<void> {
  const { actor } = approver
  if (row.path === 'question') throw badRequest('a question cannot be sent back: answer or reject it')
  return inTx(ctx, async (tx) => {
    const task = await lockForDecision(tx, row, approver)
    await markRead(tx, task, approver.actor)
    await decidePendingApproval(tx, row, 'rejected', actor, { reason: note, revise: 1, note: null })
    await resumeTask(tx, task, [resolvedEvent(row, 'rejected', actor, { revise: true })])
    const data = { action: row.action, task_id: row.task_id, reason: note, revise: true }
    await appendAuditEntry(tx, row.project_id, actor, 'approval.rejected', row.id, data)
  })
}

/** A person of the team who decides about an answer has read what it answers. */
async function markRead(tx: Tx, { id: task_id, thread_id }: LockedTask, actor: Actor): Promise<void> {
  if (thread_id !== null && actor.kind !== 'client') await updateThreadReadByTask(tx.db, { id: thread_id, task_id })
}

/** Clients read this log, so the founder's reason is only in the approval and in the audit log. */
const rejectedEnding = ({ action }: DecidableApproval, resolved: NewEvent): TaskEnding => ({
  status: 'rejected',
  error: { reason: 'rejected', message: `the action '${action}' was rejected` },
  events: [resolved],
})

/** Writes the decision and returns the hash of the payload that was decided. */
async function decidePendingApproval(
  tx: Tx,
  row: DecidableApproval,
  status: 'approved' | 'rejected',
  actor: Actor,
  { madeAt, ...comment }: Pick<ApprovalRow, 'reason' | 'revise' | 'note'> & Pick<GivenApproval, 'madeAt'>,
): Promise<string> {
  const payload_sha256 = hashPayload(approvedPayload(row))
  const now = isoNow(tx)
  const [decided] = await updateApprovalDecision(tx.db, {
    ...comment,
    id: row.id,
    status,
    edited: row.edited,
    payload_sha256,
    decided_at: now,
    made_at: madeAt ?? now,
    decided_by_kind: actor.kind,
    decided_by_id: actor.id,
  })
  if (!decided) throw await alreadyDecided(tx, row.id, actor)
  addDecisionToReports(tx, { ...row, ...decided, status, decided_at: now, decided_by_kind: actor.kind })
  tx.publishAfterCommit({ topic: 'approval-decided', id: row.id })
  publishProjectChange(tx, row.project_id, { kind: 'approval', id: row.id, status })
  return payload_sha256
}

/** Saves an edit that changes the payload as a correction in the wedge's knowledge, with an event for the log. */
async function recordEdit(tx: Tx, by: Actor, row: DecidableApproval, proposed: JsonObject): Promise<NewEvent[]> {
  const edited = parseEdit(row)
  if (edited === null || hashPayload(approvedPayload(row)) === hashPayload(proposed)) return []
  const { project_id: projectId, wedge, task_id: taskId, id: approvalId, action } = row
  const correction = { by, projectId, wedge, taskId, approvalId, action, proposed, edited }
  const knowledge_id = await recordCorrection(tx, correction)
  return [{ type: 'feedback.recorded', data: { source: 'approval', knowledge_id } }]
}

function resolvedEvent(
  row: DecidableApproval,
  decision: 'approved' | 'rejected',
  { kind, id }: Actor,
  more: { revise?: true } = {},
): NewEvent {
  const edited = row.edited !== null
  const data = {
    approval_id: row.id,
    action: row.action,
    decision,
    decided_by: { kind, id },
    ...(edited && { edited }),
    ...more,
    ...askedField(row),
  }
  return { type: 'approval.resolved', data }
}

/** Locks the task, so that decisions do not overlap, and checks that the caller may decide about what was read. */
export async function lockForDecision(tx: Tx, row: DecidableApproval, approver: Approver): Promise<LockedTask> {
  const [task] = await lockTask(tx.db, { id: row.task_id })
  if (!task) throw new Error(`approval ${row.id} has no task`)
  // Only these change while an approval is pending: the list grows by escalation, and voters may edit the payload.
  const [current = row] = row.approvers === null && row.needed === 1 ? [] : await findDecidableUnscoped(tx.db, row)
  await requireApprover(tx, current, task, approver)
  await approver.useCredential?.(tx)
  if (current.payload_sha256 !== row.payload_sha256) await requireSamePayload(tx, row, approver.actor)
  return task
}

async function requireSamePayload(tx: Tx, { id }: DecidableApproval, actor: Actor): Promise<void> {
  const [current] = await findApprovalDecision(tx.db, { id })
  if (current?.status !== 'pending') throw await alreadyDecided(tx, id, actor)
  throw payloadChanged()
}

export const payloadChanged = () => conflict('another person has changed the payload: read the approval again')
