import { changed, type ScheduleState, type State, type Step } from './state.ts'
import { begun } from './tasks.ts'

export function createSchedule(state: State, { everyS, enabled }: { everyS: number; enabled: boolean }): Step {
  if (!state.enabled) return [state, { status: 403 }]
  const name = `s${state.schedules.length + 1}`
  const times = { everyS, anchor: state.now, enabled }
  const rest = { fired: 0, lastTask: null, failed: false, gone: false }
  const schedule = { name, ...times, next: nextOf(times, state.now), ...rest }
  return [
    { ...state, schedules: [...state.schedules, schedule] },
    { status: 201, shows: name },
  ]
}

/** Switched on again, it does not make up for the pause. Only that asks for the wedge. */
export function switchSchedule(state: State, found: ScheduleState, { enabled }: { enabled: boolean }): Step {
  if (found.gone) return [state, { status: 404 }]
  if (enabled && !found.enabled && !state.enabled) return [state, { status: 403 }]
  const next = enabled === found.enabled ? found.next : nextOf({ ...found, enabled }, state.now)
  return [withSchedule(state, found, { enabled, next }), { status: 200 }]
}

export function deleteSchedule(state: State, found: ScheduleState): Step {
  return found.gone ? [state, { status: 404 }] : [withSchedule(state, found, { gone: true }), { status: 204 }]
}

/** Fires now, also while it is off; its due times stay. */
export function runSchedule(state: State, found: ScheduleState): Step {
  if (found.gone) return [state, { status: 404 }]
  if (!state.enabled) return [state, { status: 403 }]
  const [next, task] = fire(state, found)
  return [next, { status: 201, shows: task }]
}

/** What was missed fires once, and the next due time is the first in the future. */
export function firedDue(state: State): State {
  const due = state.schedules.filter(({ gone, next }) => !gone && next !== null && next <= state.now)
  return due.reduce((now, schedule) => {
    const next = nextOf(schedule, state.now)
    if (!state.enabled) return withSchedule(now, schedule, { next, failed: true })
    return withSchedule(fire(now, schedule)[0], schedule, { next })
  }, state)
}

function fire(state: State, found: ScheduleState): [State, string] {
  const task = `${found.name}#${found.fired + 1}`
  const noted = withSchedule(state, found, { fired: found.fired + 1, lastTask: task, failed: false })
  return [begun(noted, task, 'say', { bySchedule: found.name }), task]
}

function nextOf({ everyS, anchor, enabled }: Pick<ScheduleState, 'everyS' | 'anchor' | 'enabled'>, after: number) {
  if (!enabled) return null
  let slot = anchor
  while (slot <= after) slot += everyS * 1000
  return slot
}

function withSchedule(state: State, { name }: ScheduleState, change: Partial<ScheduleState>): State {
  return { ...state, schedules: changed(state.schedules, (one) => one.name === name, change) }
}
