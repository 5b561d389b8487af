import { appendAuditEntry } from '../audit/append.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { badRequest, conflict } from '../base/problem.ts'
import { checkReplyPayload, findReplyRoute } from '../channels/reply-route.ts'
import { updateThreadReadByTask } from '../channels/thread-state-rows.ts'
import { checkToolArguments, findTool } from '../connections/connection-tools.ts'
import { findConnection } from '../connections/rows.ts'
import { requiresReplyApproval } from '../contract/declared-approvals.ts'
import { listFileReferences } from '../contract/file-reference.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { Actor, ProjectScope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import type { NewEvent } from '../events/event-types.ts'
import { notifyProjectChange } from '../events/project-changes.ts'
import { resolvePayloadFiles } from '../files/payload-files.ts'
import { recordCorrection } from '../knowledge/corrections.ts'
import { endTask } from '../lifecycle/end-task.ts'
import { resumeTask } from '../lifecycle/wait-and-resume.ts'
import type { TaskEnding } from '../lifecycle/task-ending.ts'
import { findApprovalDecision } from '../lifecycle/rows.ts'
import { findTaskUnscoped, type LockedTask, lockTask } from '../tasks/rows.ts'
import { type AlsoWrite, hashPayload } from './ask-approval.ts'
import { toAnswer } from './question.ts'
import { type DecidableApproval, updateApprovalDecision } from './rows.ts'
import { approvedPayload, askedField, parseProposedPayload } from './view.ts'

/** Approves the action as proposed or as edited, or answers the question. The run continues. */
export async function approveApproval(
  ctx: Ctx,
  { actor }: Pick<ProjectScope, 'actor'>,
  approval: DecidableApproval,
  { edited, note }: { edited?: JsonObject | undefined; note?: string | undefined },
  alsoWrite: AlsoWrite = async () => {},
): Promise<void> {
  const payload = parseProposedPayload(approval)
  const edit = await resolveEditedFiles(ctx, approval, acceptedEdit(approval, payload, edited))
  const row = { ...approval }
  row.edited = edit && JSON.stringify(edit)
  if (edit && row.path === 'action') await checkEditedPayload(ctx, row)
  return inTx(ctx, async (tx) => {
    const task = await lockTaskOfApproval(tx, row)
    await markRead(tx, task, actor)
    const comment = { note: note ?? null, reason: null, revise: 0 }
    const payload_sha256 = await decidePendingApproval(tx, row, 'approved', actor, comment)
    // An answer is not a correction of the question.
    const isCorrection = edit && row.path === 'action' && isJsonObject(payload)
    const corrected = isCorrection ? await recordEdit(tx, actor, row, payload, edit) : []
    await resumeTask(tx, task, [resolvedEvent(row, 'approved', actor), ...corrected])
    await alsoWrite(tx)
    await appendAuditEntry(tx, row.project_id, actor, 'approval.approved', row.id, {
      action: row.action,
      task_id: row.task_id,
      payload_sha256,
      edited: edit !== null,
      ...(note !== undefined && { note }),
    })
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

/** An edited payload must match the tool like the proposed one. Without the tool, the action fails when it is sent. */
async function checkEditedPayload(ctx: Ctx, row: DecidableApproval): Promise<void> {
  const reply = await findReplyOfApproval(ctx, row)
  if (reply) return checkReplyPayload(reply, approvedPayload(row), 'edited')
  const connection = row.connection_id === null ? null : await findConnection(ctx.db, row.connection_id)
  const tool = connection && (await findTool(ctx, connection, row.action))
  if (tool) checkToolArguments(connection, tool, approvedPayload(row), 'edited')
}

/** How a reply to the client of a thread is sent; null if the approval is for another action. */
async function findReplyOfApproval(ctx: Ctx, { task_id, action, wedge: slug }: DecidableApproval) {
  const task = await findTaskUnscoped(ctx.db, task_id)
  const wedge = ctx.wedges.get(slug)
  const isApprovalRequired = wedge !== undefined && requiresReplyApproval(wedge.manifest)
  const route = task?.thread_id ? await findReplyRoute(ctx.db, task.thread_id, { isApprovalRequired }) : null
  return route?.capability === action ? route.reply : null
}

/**
 * Rejects the action, which ends the whole task: a rejection does not skip one step. A rejected question only has no
 * answer, and its task continues.
 */
export function rejectApproval(
  ctx: Ctx,
  { actor }: Pick<ProjectScope, 'actor'>,
  row: DecidableApproval,
  reason: string | undefined,
): Promise<void> {
  return inTx(ctx, async (tx) => {
    const task = await lockTaskOfApproval(tx, row)
    await markRead(tx, task, actor)
    await decidePendingApproval(tx, row, 'rejected', actor, { reason: reason ?? null, revise: 0, note: null })
    const resolved = resolvedEvent(row, 'rejected', actor)
    if (row.path === 'question') await resumeTask(tx, task, [resolved])
    else await endTask(tx, row.task_id, rejectedEnding(row, resolved))
    const data = { action: row.action, task_id: row.task_id, ...(reason !== undefined && { reason }) }
    await appendAuditEntry(tx, row.project_id, actor, 'approval.rejected', row.id, data)
  })
}

/** Sends the request back: the approval is rejected, and the run continues with the note as the result of its request. */
export function reviseApproval(
  ctx: Ctx,
  { actor }: Pick<ProjectScope, 'actor'>,
  row: DecidableApproval,
  note: string,
): Promise<void> {
  if (row.path === 'question') throw badRequest('a question cannot be sent back: answer or reject it')
  return inTx(ctx, async (tx) => {
    const task = await lockTaskOfApproval(tx, row)
    await markRead(tx, task, actor)
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
  comment: { reason: string | null; revise: number; note: string | null },
): Promise<string> {
  const payload_sha256 = hashPayload(approvedPayload(row))
  const [decided] = await updateApprovalDecision(tx.db, {
    ...comment,
    id: row.id,
    status,
    edited: row.edited,
    payload_sha256,
    decided_at: isoNow(tx),
    decided_by_kind: actor.kind,
    decided_by_id: actor.id,
  })
  if (!decided) {
    const [current] = await findApprovalDecision(tx.db, { id: row.id })
    // A row that is still pending has passed its `expires_at`, and the sweep has not closed it yet.
    throw conflict(`approval already decided (${current?.status === 'pending' ? 'expired' : current?.status})`)
  }
  tx.notify({ topic: 'approval-decided', id: row.id })
  notifyProjectChange(tx, row.project_id, { kind: 'approval', id: row.id, status })
  return payload_sha256
}

/** Saves an edit that changes the payload as a correction in the wedge's knowledge, with an event for the log. */
async function recordEdit(
  tx: Tx,
  by: Actor,
  row: DecidableApproval,
  proposed: JsonObject,
  edited: JsonObject,
): Promise<NewEvent[]> {
  if (hashPayload({ ...proposed, ...edited }) === hashPayload(proposed)) return []
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

async function lockTaskOfApproval(tx: Tx, row: DecidableApproval): Promise<LockedTask> {
  const [task] = await lockTask(tx.db, { id: row.task_id })
  if (!task) throw new Error(`approval ${row.id} has no task`)
  return task
}
