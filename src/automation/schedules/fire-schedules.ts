import { appendAuditEntry } from '../../audit/append.ts'
import { Problem, problemOrThrow } from '../../platform/base/problem.ts'
import { requireOpenCase } from '../../work/cases/create-case-task.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import { isoNow, toIsoTime } from '../../platform/ctx/world.ts'
import { queueWebhookDeliveries } from '../../work/events/webhook-events.ts'
import type { QueuedTask, ScheduleRow, TaskRow } from '../../platform/store/tables.ts'
import { planTask, queueTask } from '../../work/tasks/create-task.ts'
import { nextRunTime } from '../../platform/base/cadence.ts'
import {
  deleteScheduleSlotsBefore,
  insertScheduleSlot,
  listDueSchedules,
  updateNextRun,
  updateScheduleFailed,
  updateScheduleFired,
} from './rows.ts'
import { requireScheduleCase } from './schedule-case.ts'
import { ranAfterSlot } from './undo-clock-skew.ts'
import { parseCadence, parseScheduleInput } from './view.ts'

const MAX_SCHEDULES_PER_SWEEP = 100
const SLOT_RETENTION_MS = 24 * 60 * 60 * 1000

/**
 * Fires the schedules that are due and returns how many tasks were created. Each due time fires once over all replicas.
 * Several missed due times fire once, because the next due time is always in the future.
 */
export async function fireDueSchedules(ctx: Ctx): Promise<number> {
  const due = await listDueSchedules(ctx.db, { now: isoNow(ctx), limit: MAX_SCHEDULES_PER_SWEEP })
  let fired = 0
  for (const schedule of due) {
    try {
      if (await fireSlot(ctx, schedule)) fired++
    } catch (error) {
      // An internal error: the schedule stays due, and the others still fire.
      ctx.world.log.error({ err: error, schedule: schedule.id }, 'schedule failed to fire')
    }
  }
  return fired
}

/** Creates the task of a schedule now, even if the schedule is disabled. Its due times do not change. */
export async function fireScheduleNow(ctx: Ctx, schedule: ScheduleRow, actor: Actor): Promise<TaskRow> {
  const plan = await planScheduleTask(ctx, schedule)
  return inTx(ctx, async (tx) => {
    // Locks the schedule before its case, in the same order as a due time does, to avoid deadlocks.
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
    const ranUntil = ranAfterSlot(schedule, slot, now)
    const next = toIsoTime(nextRunTime(parseCadence(schedule), ranUntil ?? now, Date.parse(schedule.anchor_at)))
    const [claimed] = await updateNextRun(tx.db, { id: schedule.id, slot, next })
    if (!claimed || ranUntil !== null) return false
    const task = plan instanceof Problem ? plan : await checkCaseOpen(tx, plan)
    const taskId = task instanceof Problem ? null : task.id
    const [inserted] = await insertScheduleSlot(tx.db, { schedule_id: schedule.id, slot, task_id: taskId })
    if (!inserted) return false
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

/** Records why a due time created no task. Webhooks and the audit log are informed if the error is new. */
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

/** The task of a schedule. If the schedule has a case, the task is for the client of the case. */
async function planScheduleTask(ctx: Ctx, schedule: ScheduleRow): Promise<QueuedTask> {
  const found = await requireScheduleCase(ctx.db, schedule)
  const request = { wedge: schedule.wedge, task_type: schedule.task_type, input: parseScheduleInput(schedule) }
  return planTask(ctx, { projectId: schedule.project_id }, request, {
    schedule_id: schedule.id,
    case_id: schedule.case_id,
    client_id: found ? found.client_id : schedule.client_id,
  })
}

/** The planned task, or the problem if its case is closed. */
function checkCaseOpen(tx: Tx, plan: QueuedTask): Promise<QueuedTask | Problem> {
  if (plan.case_id === null) return Promise.resolve(plan)
  return requireOpenCase(tx, plan.case_id).then(() => plan, problemOrThrow)
}

const scheduleActor = (schedule: ScheduleRow): Actor => ({ kind: 'system', id: schedule.id })
