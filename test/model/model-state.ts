/** The state of a project in the reference model. Objects have names that the model gives them. */
export interface ModelState {
  now: number
  /** Whether the wedge is enabled for the project. */
  enabled: boolean
  /** How often the policy rule with a daily cap was used, by UTC day. */
  pings: Readonly<Record<string, number>>
  keys: Readonly<Record<string, { kind: TaskKind; task: string; at: number }>>
  tasks: readonly TaskState[]
  approvals: readonly ApprovalState[]
  cases: readonly CaseState[]
  records: readonly RecordState[]
  schedules: readonly ScheduleState[]
  connections: readonly ConnectionState[]
  /** The number of knowledge entries from edits and feedback. */
  lessons: number
}

/** What the agent of a task does: see `GATED_WEDGE`. */
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
  /** Null if the policy approved it. */
  expiresAt: number | null
}

export interface CaseState {
  name: string
  stage: string
  status: 'open' | 'closed'
  /** The number of entries in the history. */
  entries: number
}

export interface RecordState {
  key: string
  value: number
  version: number
  deleted: boolean
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
  deleted: boolean
}

export interface ConnectionState {
  name: string
  label: string
  hasSecret: boolean
  deleted: boolean
}

/** The HTTP status that the service must return, and the name of the object in the response. */
export interface ExpectedResponse {
  status: number
  subject?: string
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

/** The list with a change to the items that match. */
export function withChange<T>(list: readonly T[], matches: (item: T) => boolean, change: Partial<T>): readonly T[] {
  return list.map((item) => (matches(item) ? { ...item, ...change } : item))
}

export const isTerminalStatus = (status: string): boolean => status !== 'running' && status !== 'awaiting_approval'

/** Whether the task sends a request to the upstream server; a gated tool does not. */
export const callsUpstream = (kind: TaskKind): boolean => kind === 'note' || kind === 'ping' || kind === 'held'

/** The part of the state that the API shows. */
export function toVisibleState(state: ModelState) {
  const kindOf = new Map(state.tasks.map(({ name, kind }) => [name, kind]))
  const approved = state.approvals.filter(({ status }) => status === 'approved' || status === 'auto_approved')
  return {
    tasks: byName(state.tasks.map(({ kind: _kind, ...task }) => task)),
    approvals: byName(state.approvals.map(({ task: name, status, edited }) => ({ name, status, edited }))),
    cases: byName(
      state.cases.map((item) => ({
        ...item,
        tasks: state.tasks
          .filter(({ onCase }) => onCase === item.name)
          .map(({ name }) => name)
          .toSorted(),
      })),
    ),
    records: byName(notDeleted(state.records).map(({ key: name, value, version }) => ({ name, value, version }))),
    schedules: byName(
      notDeleted(state.schedules).map(({ name, enabled, next, lastTask, failed }) => ({
        name,
        enabled,
        lastTask,
        failed,
        next: next === null ? null : new Date(next).toISOString(),
      })),
    ),
    connections: byName(
      notDeleted(state.connections).map(({ name, label, hasSecret }) => ({ name, label, hasSecret })),
    ),
    lessons: state.lessons,
    effects: approved
      .map(({ task }) => task)
      .filter((task) => callsUpstream(kindOf.get(task) ?? 'say'))
      .toSorted(),
  }
}

export type VisibleState = ReturnType<typeof toVisibleState>

export function byName<T extends { name: string }>(list: readonly T[]): T[] {
  return list.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

const notDeleted = <T extends { deleted: boolean }>(list: readonly T[]): T[] => list.filter(({ deleted }) => !deleted)
