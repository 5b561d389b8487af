import { changed, isOver, type Kind, type State, type Step, type TaskState } from './state.ts'

const APPROVAL_TTL_MS = 300_000
export const PINGS_A_DAY = 3
const DAY_MS = 24 * 60 * 60_000

type Origin = Partial<Pick<TaskState, 'retryOf' | 'onCase' | 'bySchedule'>>

export function create(state: State, { kind, key }: { kind: Kind; key: string | null }): Step {
  const known = key === null ? undefined : state.keys[key]
  if (known && state.now - known.at < DAY_MS) {
    return known.kind === kind ? [state, { status: 201, shows: known.task }] : [state, { status: 409 }]
  }
  if (!state.enabled) return [state, { status: 403 }]
  const name = nextName(state)
  const keys = key === null ? state.keys : { ...state.keys, [key]: { kind, task: name, at: state.now } }
  return [begun({ ...state, keys }, name, kind), { status: 201, shows: name }]
}

export function retry(state: State, task: TaskState): Step {
  if (!isOver(task.status)) return [state, { status: 409 }]
  if (!state.enabled) return [state, { status: 403 }]
  if (state.cases.some(({ name, status }) => name === task.onCase && status === 'closed'))
    return [state, { status: 409 }]
  const name = nextName(state)
  return [begun(state, name, task.kind, { retryOf: task.name, onCase: task.onCase }), { status: 201, shows: name }]
}

/** A task that waits for a person is settled as rejected. */
export function cancel(state: State, task: TaskState): Step {
  if (isOver(task.status)) return [state, { status: 409 }]
  const status = task.status === 'awaiting_approval' ? 'rejected' : 'cancelled'
  const settled = decided(state, task.name, task.status === 'awaiting_approval' ? 'rejected' : null)
  return [ended(settled, task.name, status, status), { status: 200, shows: task.name }]
}

export function feedback(state: State, { note }: { note: boolean }): Step {
  return [{ ...state, lessons: state.lessons + (note ? 1 : 0) }, { status: 201 }]
}

export const nextName = (state: State): string => `t${state.tasks.filter(({ bySchedule }) => !bySchedule).length + 1}`

/** A new task, and what its run comes to before anybody does anything. */
export function begun(state: State, name: string, kind: Kind, origin: Origin = {}): State {
  const task = { name, kind, status: 'running', reason: null, retryOf: null, onCase: null, bySchedule: null, ...origin }
  const next = { ...state, tasks: [...state.tasks, task] }
  if (kind === 'say') return ended(next, name, 'succeeded')
  if (kind === 'bad') return ended(next, name, 'failed', 'output_invalid')
  if (kind === 'held') return asked(next, name, 'auto_approved')
  return kind === 'ping' ? pinged(next, name) : waiting(next, name)
}

/** The rule approves so many a day, and a refusal uses nothing. */
function pinged(state: State, name: string): State {
  const day = new Date(state.now).toISOString().slice(0, 10)
  const used = state.pings[day] ?? 0
  if (used >= PINGS_A_DAY) return waiting(state, name)
  return ended(
    asked({ ...state, pings: { ...state.pings, [day]: used + 1 } }, name, 'auto_approved'),
    name,
    'succeeded',
  )
}

function waiting(state: State, name: string): State {
  const tasks = changed(state.tasks, (task) => task.name === name, { status: 'awaiting_approval' })
  return asked({ ...state, tasks }, name, 'pending')
}

function asked(state: State, task: string, status: 'pending' | 'auto_approved'): State {
  const expiresAt = status === 'pending' ? state.now + APPROVAL_TTL_MS : null
  return { ...state, approvals: [...state.approvals, { task, status, edited: false, expiresAt }] }
}

export function ended(state: State, name: string, status: string, reason: string | null = null): State {
  return { ...state, tasks: changed(state.tasks, (task) => task.name === name, { status, reason }) }
}

export function decided(state: State, task: string, status: string | null, edited = false): State {
  if (status === null) return state
  return { ...state, approvals: changed(state.approvals, (one) => one.task === task, { status, edited }) }
}
