import { audit } from '../audit/append.ts'
import { Problem, problemOnly } from '../base/problem.ts'
import { requireOpen } from '../cases/spawn.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { isoNow, isoTime } from '../ctx/world.ts'
import { notice } from '../events/notices.ts'
import type { QueuedTask, Schedules, Tasks } from '../store/tables.ts'
import { planTask, queueTask } from '../tasks/create.ts'
import { nextRun } from './cadence.ts'
import { caseOf } from './case.ts'
import { cadenceOf, inputOf } from './record.ts'
import { doneUntil } from './recall.ts'
import { dropSlotsBefore, dueSchedules, keepSlot, noteFailed, noteFired, takeSlot } from './rows.ts'

const MOST_AT_ONCE = 100
const DAY = 24 * 60 * 60 * 1000

/**
 * Fires what is due, each due time once over all replicas, and answers how many tasks that made. What was missed while
 * nobody looked fires once: the next due time is the first in the future.
 */
export async function fireDueSchedules(ctx: Ctx): Promise<number> {
  const due = await dueSchedules(ctx.db, { now: isoNow(ctx), most: MOST_AT_ONCE })
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
export async function fireNow(ctx: Ctx, schedule: Schedules, actor: Actor): Promise<Tasks> {
  const plan = await planFor(ctx, schedule)
  return inTx(ctx, async (tx) => {
    // The schedule before its case, as when it is due: two that lock in one order never wait for each other.
    await noteFired(tx.db, { id: schedule.id, at: plan.created_at, task_id: plan.id })
    if (plan.case_id !== null) await requireOpen(tx, plan.case_id)
    await queueTask(tx, plan, actor)
    return plan
  })
}

async function fireSlot(ctx: Ctx, schedule: Schedules): Promise<boolean> {
  const slot = schedule.next_run_at
  if (slot === null) return false
  const plan = await planFor(ctx, schedule).catch(problemOnly)
  return inTx(ctx, async (tx) => {
    const now = tx.world.clock.now()
    const done = doneUntil(schedule, slot, now)
    const next = isoTime(nextRun(cadenceOf(schedule), done ?? now, Date.parse(schedule.anchor_at)))
    const [taken] = await takeSlot(tx.db, { id: schedule.id, slot, next })
    if (!taken || done !== null) return false
    const task = plan instanceof Problem ? plan : await openFor(tx, plan)
    const taskId = task instanceof Problem ? null : task.id
    const [kept] = await keepSlot(tx.db, { schedule_id: schedule.id, slot, task_id: taskId })
    if (!kept) return false
    await dropSlotsBefore(tx.db, { schedule_id: schedule.id, before: isoTime(Date.parse(slot) - DAY) })
    return task instanceof Problem ? fail(tx, schedule, task) : queue(tx, schedule, task)
  })
}

async function queue(tx: Tx, schedule: Schedules, task: QueuedTask): Promise<boolean> {
  await noteFired(tx.db, { id: schedule.id, at: isoNow(tx), task_id: task.id })
  await queueTask(tx, task, actorOf(schedule))
  return true
}

/** The schedule goes on; what is wrong stands in it, and is told when it is new. */
async function fail(tx: Tx, schedule: Schedules, { message }: Problem): Promise<boolean> {
  await noteFailed(tx.db, { id: schedule.id, at: isoNow(tx), error: message })
  if (schedule.last_error !== message) {
    await notice(tx, schedule.project_id, 'schedule.failed', schedule.id)
    await audit(tx, schedule.project_id, actorOf(schedule), 'schedule.failed', schedule.id, { error: message })
  }
  return false
}

/** The task of a schedule; on a case, it is for the case's client. */
async function planFor(ctx: Ctx, schedule: Schedules): Promise<QueuedTask> {
  const found = await caseOf(ctx.db, schedule)
  const request = { wedge: schedule.wedge, task_type: schedule.task_type, input: inputOf(schedule) }
  return planTask(ctx, { projectId: schedule.project_id }, request, {
    schedule_id: schedule.id,
    case_id: schedule.case_id,
    client_id: found ? found.client_id : schedule.client_id,
  })
}

/** The task as planned, or why its case refuses it. */
function openFor(tx: Tx, plan: QueuedTask): Promise<QueuedTask | Problem> {
  if (plan.case_id === null) return Promise.resolve(plan)
  return requireOpen(tx, plan.case_id).then(() => plan, problemOnly)
}

const actorOf = (schedule: Schedules): Actor => ({ kind: 'system', id: schedule.id })
