import {
  withChange,
  isTerminalStatus,
  type TaskKind,
  type ModelState,
  type StepResult,
  type TaskState,
} from './model-state.ts'

const APPROVAL_TTL_MS = 300_000
export const MAX_PINGS_PER_DAY = 3
const DAY_MS = 24 * 60 * 60_000

type Origin = Partial<Pick<TaskState, 'retryOf' | 'onCase' | 'bySchedule'>>

export function createTask(state: ModelState, { kind, key }: { kind: TaskKind; key: string | null }): StepResult {
  const known = key === null ? undefined : state.keys[key]
  if (known && state.now - known.at < DAY_MS) {
    return known.kind === kind ? [state, { status: 201, subject: known.task }] : [state, { status: 409 }]
  }
  if (!state.enabled) return [state, { status: 403 }]
  const name = nextTaskName(state)
  const keys = key === null ? state.keys : { ...state.keys, [key]: { kind, task: name, at: state.now } }
  return [withTask({ ...state, keys }, name, kind), { status: 201, subject: name }]
}

export function retryTask(state: ModelState, task: TaskState): StepResult {
  if (!isTerminalStatus(task.status)) return [state, { status: 409 }]
  if (!state.enabled) return [state, { status: 403 }]
  if (state.cases.some(({ name, status }) => name === task.onCase && status === 'closed'))
    return [state, { status: 409 }]
  const name = nextTaskName(state)
  return [withTask(state, name, task.kind, { retryOf: task.name, onCase: task.onCase }), { status: 201, subject: name }]
}

/** The cancel of a task that waits for an approval rejects the approval. */
export function cancelTask(state: ModelState, task: TaskState): StepResult {
  if (isTerminalStatus(task.status)) return [state, { status: 409 }]
  const status = task.status === 'awaiting_approval' ? 'rejected' : 'cancelled'
  const decided = withDecision(state, task.name, task.status === 'awaiting_approval' ? 'rejected' : null)
  return [withEndedTask(decided, task.name, status, status), { status: 200, subject: task.name }]
}

export function giveFeedback(state: ModelState, { note }: { note: boolean }): StepResult {
  return [{ ...state, lessons: state.lessons + (note ? 1 : 0) }, { status: 201 }]
}

export const nextTaskName = (state: ModelState): string =>
  `t${state.tasks.filter(({ bySchedule }) => !bySchedule).length + 1}`

/** Adds a task in the state that its run reaches without any decision. */
export function withTask(state: ModelState, name: string, kind: TaskKind, origin: Origin = {}): ModelState {
  const task = { name, kind, status: 'running', reason: null, retryOf: null, onCase: null, bySchedule: null, ...origin }
  const next = { ...state, tasks: [...state.tasks, task] }
  if (kind === 'say') return withEndedTask(next, name, 'succeeded')
  if (kind === 'bad') return withEndedTask(next, name, 'failed', 'output_invalid')
  if (kind === 'held') return withApproval(next, name, 'auto_approved')
  return kind === 'ping' ? withPing(next, name) : withWaitingTask(next, name)
}

/** The policy approves three pings a day; a ping that waits does not count. */
function withPing(state: ModelState, name: string): ModelState {
  const day = new Date(state.now).toISOString().slice(0, 10)
  const used = state.pings[day] ?? 0
  if (used >= MAX_PINGS_PER_DAY) return withWaitingTask(state, name)
  return withEndedTask(
    withApproval({ ...state, pings: { ...state.pings, [day]: used + 1 } }, name, 'auto_approved'),
    name,
    'succeeded',
  )
}

function withWaitingTask(state: ModelState, name: string): ModelState {
  const tasks = withChange(state.tasks, (task) => task.name === name, { status: 'awaiting_approval' })
  return withApproval({ ...state, tasks }, name, 'pending')
}

function withApproval(state: ModelState, task: string, status: 'pending' | 'auto_approved'): ModelState {
  const expiresAt = status === 'pending' ? state.now + APPROVAL_TTL_MS : null
  return { ...state, approvals: [...state.approvals, { task, status, edited: false, expiresAt }] }
}

export function withEndedTask(
  state: ModelState,
  name: string,
  status: string,
  reason: string | null = null,
): ModelState {
  return { ...state, tasks: withChange(state.tasks, (task) => task.name === name, { status, reason }) }
}

export function withDecision(state: ModelState, task: string, status: string | null, edited = false): ModelState {
  if (status === null) return state
  return { ...state, approvals: withChange(state.approvals, (approval) => approval.task === task, { status, edited }) }
}
