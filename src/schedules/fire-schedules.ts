import { appendAuditEntry } from '../audit/append.ts'
import { Problem, problemOrThrow } from '../base/problem.ts'
import { requireOpenCase } from '../cases/create-case-task.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { isoNow, toIsoTime } from '../ctx/world.ts'
import { queueWebhookDeliveries } from '../events/webhook-events.ts'
import type { QueuedTask, ScheduleRow, TaskRow } from '../store/tables.ts'
import { planTask, queueTask } from '../tasks/create-task.ts'
import { nextRunTime } from './cadence.ts'
import { requireScheduleCase } from './schedule-case.ts'
import { parseCadence, parseScheduleInput } from './view.ts'
import { ranAfterSlot } from './undo-clock-skew.ts'
import {
  deleteScheduleSlotsBefore,
  listDueSchedules,
  insertScheduleSlot,
  updateScheduleFailed,
  updateScheduleFired,
  updateNextRun,
} from './rows.ts'

const MAX_SCHEDULES_PER_SWEEP = 100
const SLOT_RETENTION_MS = 24 * 60 * 60 * 1000

/**
 * Fires what is due, each due time once over all replicas, and answers how many tasks that made. What was missed while
 * nobody looked fires once: the next due time is the first in the future.
 */
export async function fireDueSchedules(ctx: Ctx): Promise<number> {
  const due = await listDueSchedules(ctx.db, { now: isoNow(ctx), most: MAX_SCHEDULES_PER_SWEEP })
  let fired = 0
  for (const schedule of due) {
    try {
      if (await fireSlot(ctx, schedule)) fired++
    } catch (error) {
      // Our fault, not the schedule's: it stays due, and must not keep the others waiting.
      ctx.world.log.error({ err: error, schedule: schedule.id }, 'schedule not fired')
    }
  }
  return fired
}

/** Makes the task of a schedule at once, also of one that is off. Its due times stay as they are. */
export async function fireScheduleNow(ctx: Ctx, schedule: ScheduleRow, actor: Actor): Promise<TaskRow> {
  const plan = await planScheduleTask(ctx, schedule)
  return inTx(ctx, async (tx) => {
    // The schedule before its case, as when it is due: two that lock in one order never wait for each other.
    await updateScheduleFired(tx.db, { id: schedule.id, at: plan.created_at, task_id: plan.id })
    if (plan.case_id !== null) await requireOpenCase(tx, plan.case_id)
    await queueTask(tx, plan, actor)
    return plan
  })
}

async function fireSlot(ctx: Ctx, schedule: ScheduleRow): Promise<boolean> {
  const slot = schedule.next_run_at
  if (slot === null) return false
  const plan = await planScheduleTask(ctx, schedule).catch(problemOrThrow)
  return inTx(ctx, async (tx) => {
    const now = tx.world.clock.now()
    const done = ranAfterSlot(schedule, slot, now)
    const next = toIsoTime(nextRunTime(parseCadence(schedule), done ?? now, Date.parse(schedule.anchor_at)))
    const [taken] = await updateNextRun(tx.db, { id: schedule.id, slot, next })
    if (!taken || done !== null) return false
    const task = plan instanceof Problem ? plan : await checkCaseOpen(tx, plan)
    const taskId = task instanceof Problem ? null : task.id
    const [kept] = await insertScheduleSlot(tx.db, { schedule_id: schedule.id, slot, task_id: taskId })
    if (!kept) return false
    await deleteScheduleSlotsBefore(tx.db, {
      schedule_id: schedule.id,
      before: toIsoTime(Date.parse(slot) - SLOT_RETENTION_MS),
    })
    return task instanceof Problem ? recordFailedSlot(tx, schedule, task) : queueFiredTask(tx, schedule, task)
  })
}

async function queueFiredTask(tx: Tx, schedule: ScheduleRow, task: QueuedTask): Promise<boolean> {
  await updateScheduleFired(tx.db, { id: schedule.id, at: isoNow(tx), task_id: task.id })
  await queueTask(tx, task, scheduleActor(schedule))
  return true
}

/** The schedule goes on; what is wrong stands in it, and is told when it is new. */
async function recordFailedSlot(tx: Tx, schedule: ScheduleRow, { message }: Problem): Promise<boolean> {
  await updateScheduleFailed(tx.db, { id: schedule.id, at: isoNow(tx), error: message })
  if (schedule.last_error !== message) {
    await queueWebhookDeliveries(tx, schedule.project_id, 'schedule.failed', schedule.id)
    await appendAuditEntry(tx, schedule.project_id, scheduleActor(schedule), 'schedule.failed', schedule.id, {
      error: message,
    })
  }
  return false
}

/** The task of a schedule; on a case, it is for the case's client. */
async function planScheduleTask(ctx: Ctx, schedule: ScheduleRow): Promise<QueuedTask> {
  const found = await requireScheduleCase(ctx.db, schedule)
  const request = { wedge: schedule.wedge, task_type: schedule.task_type, input: parseScheduleInput(schedule) }
  return planTask(ctx, { projectId: schedule.project_id }, request, {
    schedule_id: schedule.id,
    case_id: schedule.case_id,
    client_id: found ? found.client_id : schedule.client_id,
  })
}

/** The task as planned, or why its case refuses it. */
function checkCaseOpen(tx: Tx, plan: QueuedTask): Promise<QueuedTask | Problem> {
  if (plan.case_id === null) return Promise.resolve(plan)
  return requireOpenCase(tx, plan.case_id).then(() => plan, problemOrThrow)
}

const scheduleActor = (schedule: ScheduleRow): Actor => ({ kind: 'system', id: schedule.id })
