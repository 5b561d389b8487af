import { audit } from '../audit/append.ts'
import { isJsonObject, type JsonObject } from '../base/json.ts'
import { badRequest, conflict } from '../base/problem.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { Actor, ProjectScope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { write } from '../events/append.ts'
import { changed } from '../events/changes.ts'
import type { NewEvent } from '../events/types.ts'
import { recordCorrection } from '../knowledge/corrections.ts'
import { goOn, type HeldTask, holdTask } from '../tasks/state-rows.ts'
import { payloadHash } from './ask.ts'
import { approvedPayload, proposedPayload } from './record.ts'
import { type Decidable, decidedAs, decidePending } from './rows.ts'
import { endTask } from './settle.ts'

/** Lets the action pass, as proposed or as edited. The run goes on, on whichever replica it waits. */
export function approve(
  ctx: Ctx,
  scope: ProjectScope,
  approval: Decidable,
  { edited, note }: { edited?: JsonObject | undefined; note?: string | undefined },
): Promise<void> {
  const edit = approval.path === 'action' ? (edited ?? null) : null
  const payload = proposedPayload(approval)
  if (edit && !isJsonObject(payload)) throw badRequest("field 'edited' needs a payload that is an object")
  const row = { ...approval }
  row.edited = edit && JSON.stringify(edit)
  return inTx(ctx, async (tx) => {
    const task = await heldTask(tx, row)
    const payload_sha256 = await decide(tx, row, 'approved', scope.actor, { note: note ?? null, reason: null })
    const corrected = edit && isJsonObject(payload) ? await learn(tx, scope.actor, row, payload, edit) : []
    await resume(tx, task, [resolved(row, 'approved', scope.actor), ...corrected])
    await audit(tx, row.project_id, scope.actor, 'approval.approved', row.id, {
      action: row.action,
      task_id: row.task_id,
      payload_sha256,
      edited: edit !== null,
      ...(note !== undefined && { note }),
    })
  })
}

/** Refuses the action, and with it the whole task: not a skip of one step. */
export function reject(ctx: Ctx, scope: ProjectScope, row: Decidable, reason: string | undefined): Promise<void> {
  return inTx(ctx, async (tx) => {
    await heldTask(tx, row)
    await decide(tx, row, 'rejected', scope.actor, { reason: reason ?? null, note: null })
    await endTask(tx, row.task_id, {
      status: 'rejected',
      // The founder's words stay in the row and the audit: customers read this log.
      error: { reason: 'rejected', message: `the action '${row.action}' was rejected` },
      events: [resolved(row, 'rejected', scope.actor)],
    })
    const data = { action: row.action, task_id: row.task_id, ...(reason !== undefined && { reason }) }
    await audit(tx, row.project_id, scope.actor, 'approval.rejected', row.id, data)
  })
}

/** Answers with the hash of the payload as decided. */
async function decide(
  tx: Tx,
  row: Decidable,
  status: 'approved' | 'rejected',
  actor: Actor,
  words: { reason: string | null; note: string | null },
): Promise<string> {
  const payload_sha256 = payloadHash(approvedPayload(row))
  const [decided] = await decidePending(tx.db, {
    reason: words.reason,
    note: words.note,
    id: row.id,
    status,
    edited: row.edited,
    payload_sha256,
    decided_at: isoNow(tx),
    decided_by_kind: actor.kind,
    decided_by_id: actor.id,
  })
  if (!decided) {
    const [now] = await decidedAs(tx.db, { id: row.id })
    // Past its time and not swept yet: nobody can decide it any more.
    throw conflict(`approval already decided (${now?.status === 'pending' ? 'expired' : now?.status})`)
  }
  tx.ring(`approval:${row.id}`)
  changed(tx, row.project_id, { kind: 'approval', id: row.id, status })
  return payload_sha256
}

async function resume(tx: Tx, { id, epoch, project_id }: HeldTask, events: NewEvent[]): Promise<void> {
  const [head] = await goOn(tx.db, { id, epoch, count: events.length })
  if (!head) throw conflict('task already finished')
  await write(tx, id, head.last_event_id, events)
  changed(tx, project_id, { kind: 'task', id, status: head.status })
}

/** An edit that changed something becomes knowledge, and a note in the log. */
async function learn(tx: Tx, by: Actor, row: Decidable, proposed: JsonObject, edited: JsonObject): Promise<NewEvent[]> {
  if (payloadHash({ ...proposed, ...edited }) === payloadHash(proposed)) return []
  const { project_id: projectId, wedge, task_id: taskId, id: approvalId, action } = row
  const correction = { by, projectId, wedge, taskId, approvalId, action, proposed, edited }
  const knowledge_id = await recordCorrection(tx, correction)
  return [{ type: 'feedback.recorded', data: { source: 'approval', knowledge_id } }]
}

function resolved(row: Decidable, decision: 'approved' | 'rejected', { kind, id }: Actor): NewEvent {
  const edited = row.edited !== null
  const data = {
    approval_id: row.id,
    action: row.action,
    decision,
    decided_by: { kind, id },
    ...(edited && { edited }),
  }
  return { type: 'approval.resolved', data }
}

async function heldTask(tx: Tx, row: Decidable): Promise<HeldTask> {
  const [task] = await holdTask(tx.db, { id: row.task_id })
  if (!task) throw new Error(`approval ${row.id} has no task`)
  return task
}
