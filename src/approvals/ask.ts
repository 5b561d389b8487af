import { hash } from 'node:crypto'
import { audit } from '../audit/append.ts'
import { canonical, type Json } from '../base/json.ts'
import { Problem } from '../base/problem.ts'
import { type Ctx, inTxAtLast, type Tx } from '../ctx/ctx.ts'
import { watch } from '../ctx/latch.ts'
import { isoTime } from '../ctx/world.ts'
import { append, RunOver, write } from '../events/append.ts'
import { changed } from '../events/changes.ts'
import { notice } from '../events/notices.ts'
import type { Approvals } from '../store/tables.ts'
import { setWaiting } from '../tasks/state-rows.ts'
import type { AskingRun, GatedRequest } from './asking.ts'
import { consultPolicy } from './consult.ts'
import { decidedAs, insertApproval } from './rows.ts'

/** A person said no, nobody said yes in time, or the run is over. */
export class Refused extends Problem {
  constructor(status: string) {
    super(403, `approval ${status}`)
  }
}

/** Asks the gate and waits for the answer. Only a row that says approved or auto_approved lets anything pass. */
export async function ask(ctx: Ctx, run: AskingRun, request: GatedRequest): Promise<Approvals> {
  const asked = await inTxAtLast(ctx, (tx) => putQuestion(tx, run, request), run.over.signal)
  const answered = asked.status === 'pending' ? await decision(ctx, asked, run.over.signal) : asked
  if (answered.status !== 'approved' && answered.status !== 'auto_approved') throw new Refused(answered.status)
  return answered
}

export function payloadHash(payload: Json): string {
  return hash('sha256', canonical(payload))
}

/** One transaction: the policy's answer with its counters, the row, the event and the task's status. */
async function putQuestion(tx: Tx, run: AskingRun, request: GatedRequest): Promise<Approvals> {
  const now = tx.world.clock.now()
  const verdict = await consultPolicy(tx, run, request)
  const row: Approvals = {
    id: tx.world.newId('apr'),
    project_id: run.projectId,
    task_id: run.taskId,
    wedge: run.wedge.slug,
    task_type: run.taskType,
    action: request.action,
    risk: request.risk,
    path: request.path,
    payload: JSON.stringify(request.payload),
    payload_sha256: payloadHash(request.payload),
    edited: null,
    status: verdict ? 'auto_approved' : 'pending',
    policy_reason: verdict?.reason ?? null,
    policy_rule: verdict ? JSON.stringify(verdict.rule) : null,
    reason: null,
    note: null,
    connection_id: request.connection?.id ?? null,
    connection: request.connection?.name ?? null,
    created_at: isoTime(now),
    expires_at: verdict ? null : isoTime(now + tx.config.approvalTtlS * 1000),
    decided_at: verdict ? isoTime(now) : null,
    decided_by_kind: verdict ? 'system' : null,
    decided_by_id: verdict ? 'policy' : null,
  }
  await insertApproval(tx.db, row)
  if (verdict) await passByPolicy(tx, run, row, verdict.reason)
  else await stopForPerson(tx, run, row, request.payload)
  return row
}

async function passByPolicy(tx: Tx, run: AskingRun, row: Approvals, policy_reason: string): Promise<void> {
  const { id: approval_id, action } = row
  await append(tx, run, [
    { type: 'approval.resolved', data: { approval_id, action, decision: 'auto_approved', policy_reason } },
  ])
  const data = { action, task_id: row.task_id, payload_sha256: row.payload_sha256, policy_reason }
  await audit(tx, row.project_id, { kind: 'system', id: 'policy' }, 'approval.auto_approved', row.id, data)
}

async function stopForPerson(tx: Tx, run: AskingRun, row: Approvals, preview: Json): Promise<void> {
  const [head] = await setWaiting(tx.db, { id: run.taskId, epoch: run.epoch })
  if (!head) throw new RunOver()
  const { id: approval_id, action, risk, connection, expires_at } = row
  const through = connection === null ? {} : { connection }
  const data = { approval_id, action, risk, ...through, preview, expires_at: expires_at ?? '' }
  await write(tx, run.taskId, head.last_event_id, [{ type: 'approval.requested', data }])
  await notice(tx, row.project_id, 'approval.requested', row.id)
  changed(tx, row.project_id, { kind: 'approval', id: row.id, status: row.status })
  changed(tx, row.project_id, { kind: 'task', id: row.task_id, status: 'awaiting_approval' })
}

/** A decision on another replica rings too, unless the ring was lost. */
const POLL_MS = 700

async function decision(ctx: Ctx, asked: Approvals, signal: AbortSignal): Promise<Approvals> {
  const decided = await watch(ctx, {
    bell: `approval:${asked.id}`,
    signal,
    pollMs: POLL_MS,
    async look() {
      const [now] = await decidedAs(ctx.db, { id: asked.id })
      return now && now.status !== 'pending' ? now : null
    },
  })
  if (!decided) throw new Refused('withdrawn')
  return { ...asked, ...decided }
}
