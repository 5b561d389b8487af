import { withChange, type ScheduleState, type ModelState, type StepResult } from './model-state.ts'
import { withTask } from './tasks.ts'

export function createSchedule(
  state: ModelState,
  { everyS, enabled }: { everyS: number; enabled: boolean },
): StepResult {
  if (!state.enabled) return [state, { status: 403 }]
  const name = `s${state.schedules.length + 1}`
  const times = { everyS, anchor: state.now, enabled }
  const rest = { fired: 0, lastTask: null, failed: false, deleted: false }
  const schedule = { name, ...times, next: nextDueTime(times, state.now), ...rest }
  return [
    { ...state, schedules: [...state.schedules, schedule] },
    { status: 201, subject: name },
  ]
}

/** An enabled schedule does not repeat missed times. Only enabling requires an enabled wedge. */
export function switchSchedule(state: ModelState, found: ScheduleState, { enabled }: { enabled: boolean }): StepResult {
  if (found.deleted) return [state, { status: 404 }]
  if (enabled && !found.enabled && !state.enabled) return [state, { status: 403 }]
  const next = enabled === found.enabled ? found.next : nextDueTime({ ...found, enabled }, state.now)
  return [withSchedule(state, found, { enabled, next }), { status: 200 }]
}

export function deleteSchedule(state: ModelState, found: ScheduleState): StepResult {
  return found.deleted ? [state, { status: 404 }] : [withSchedule(state, found, { deleted: true }), { status: 204 }]
}

/** Fires now, even if disabled, and keeps the due times. */
export function runSchedule(state: ModelState, found: ScheduleState): StepResult {
  if (found.deleted) return [state, { status: 404 }]
  if (!state.enabled) return [state, { status: 403 }]
  const [next, task] = fireSchedule(state, found)
  return [next, { status: 201, subject: task }]
}

/** Missed times fire once, and the next due time is the first in the future. */
export function fireDueSchedules(state: ModelState): ModelState {
  const due = state.schedules.filter(({ deleted, next }) => !deleted && next !== null && next <= state.now)
  return due.reduce((now, schedule) => {
    const next = nextDueTime(schedule, state.now)
    if (!state.enabled) return withSchedule(now, schedule, { next, failed: true })
    return withSchedule(fireSchedule(now, schedule)[0], schedule, { next })
  }, state)
}

function fireSchedule(state: ModelState, found: ScheduleState): [ModelState, string] {
  const task = `${found.name}#${found.fired + 1}`
  const updated = withSchedule(state, found, { fired: found.fired + 1, lastTask: task, failed: false })
  return [withTask(updated, task, 'say', { bySchedule: found.name }), task]
}

function nextDueTime({ everyS, anchor, enabled }: Pick<ScheduleState, 'everyS' | 'anchor' | 'enabled'>, after: number) {
  if (!enabled) return null
  let due = anchor
  while (due <= after) due += everyS * 1000
  return due
}

function withSchedule(state: ModelState, { name }: ScheduleState, change: Partial<ScheduleState>): ModelState {
  return { ...state, schedules: withChange(state.schedules, (schedule) => schedule.name === name, change) }
}
