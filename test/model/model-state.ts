/** The reference: what the contract lets a project look like, as plain data. Things are called by names of our own. */
export interface ModelState {
  now: number
  /** Whether the wedge is enabled for the project. */
  enabled: boolean
  /** Uses of the rule with a cap, by UTC day. */
  pings: Readonly<Record<string, number>>
  keys: Readonly<Record<string, { kind: TaskKind; task: string; at: number }>>
  tasks: readonly TaskState[]
  approvals: readonly ApprovalState[]
  cases: readonly CaseState[]
  records: readonly RecordState[]
  schedules: readonly ScheduleState[]
  connections: readonly ConnectionState[]
  /** Knowledge that people taught: corrections and feedback. */
  lessons: number
}

/** What the agent of a task does: see `WEDGE`. */
export type TaskKind = 'say' | 'bad' | 'note' | 'ping' | 'book' | 'held'

export interface TaskState {
  name: string
  kind: TaskKind
  status: string
  reason: string | null
  retryOf: string | null
  onCase: string | null
  bySchedule: string | null
}

export interface ApprovalState {
  task: string
  status: string
  edited: boolean
  /** Null when a rule answered. */
  expiresAt: number | null
}

export interface CaseState {
  name: string
  stage: string
  status: 'open' | 'closed'
  /** Entries of its history. */
  entries: number
}

export interface RecordState {
  key: string
  value: number
  version: number
  gone: boolean
}

export interface ScheduleState {
  name: string
  everyS: number
  anchor: number
  enabled: boolean
  next: number | null
  fired: number
  lastTask: string | null
  failed: boolean
  gone: boolean
}

export interface ConnectionState {
  name: string
  called: string
  hasSecret: boolean
  gone: boolean
}

/** The status that the service must answer, and the thing that its answer must show. */
export interface ExpectedResponse {
  status: number
  shows?: string
}

export type StepResult = readonly [ModelState, ExpectedResponse]

export const emptyState = (now: number): ModelState => ({
  now,
  enabled: true,
  pings: {},
  keys: {},
  tasks: [],
  approvals: [],
  cases: [],
  records: [],
  schedules: [],
  connections: [],
  lessons: 0,
})

/** The list with one of its things changed. */
export function withChange<T>(list: readonly T[], which: (one: T) => boolean, change: Partial<T>): readonly T[] {
  return list.map((one) => (which(one) ? { ...one, ...change } : one))
}

export const isTerminalStatus = (status: string): boolean => status !== 'running' && status !== 'awaiting_approval'

/** What is done through a connection leaves the house; a gated tool does not. */
export const callsUpstream = (kind: TaskKind): boolean => kind === 'note' || kind === 'ping' || kind === 'held'

/** The project as a caller sees it. */
export function toVisibleState(state: ModelState) {
  const kindOf = new Map(state.tasks.map(({ name, kind }) => [name, kind]))
  const passed = state.approvals.filter(({ status }) => status === 'approved' || status === 'auto_approved')
  return {
    tasks: byName(state.tasks.map(({ kind: _kind, ...task }) => task)),
    approvals: byName(state.approvals.map(({ task: name, status, edited }) => ({ name, status, edited }))),
    cases: byName(
      state.cases.map((one) => ({
        ...one,
        tasks: state.tasks
          .filter(({ onCase }) => onCase === one.name)
          .map(({ name }) => name)
          .toSorted(),
      })),
    ),
    records: byName(present(state.records).map(({ key: name, value, version }) => ({ name, value, version }))),
    schedules: byName(
      present(state.schedules).map(({ name, enabled, next, lastTask, failed }) => ({
        name,
        enabled,
        lastTask,
        failed,
        next: next === null ? null : new Date(next).toISOString(),
      })),
    ),
    connections: byName(present(state.connections).map(({ name, called, hasSecret }) => ({ name, called, hasSecret }))),
    lessons: state.lessons,
    effects: passed
      .map(({ task }) => task)
      .filter((task) => callsUpstream(kindOf.get(task) ?? 'say'))
      .toSorted(),
  }
}

export type VisibleState = ReturnType<typeof toVisibleState>

export function byName<T extends { name: string }>(list: readonly T[]): T[] {
  return list.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

const present = <T extends { gone: boolean }>(list: readonly T[]): T[] => list.filter(({ gone }) => !gone)
