import { approveStep, expireApprovals, rejectStep } from './approvals.ts'
import { createCaseTask, moveCase, openCase, setCaseStatus } from './cases.ts'
import { createConnection, deleteConnection, renameConnection, writeSecret } from './connections.ts'
import { deleteRecord, putRecord } from './records.ts'
import { createSchedule, deleteSchedule, fireDueSchedules, runSchedule, switchSchedule } from './schedules.ts'
import type { TaskKind, ModelState, StepResult } from './model-state.ts'
import { cancelTask, createTask, withEndedTask, giveFeedback, retryTask } from './tasks.ts'

/** An action of a client. `n` selects one of the objects that exist or existed. */
export type ModelAction =
  | { do: 'create'; kind: TaskKind; key: string | null }
  | { do: 'retry' | 'cancel'; n: number }
  | { do: 'feedback'; n: number; note: boolean }
  | { do: 'approve'; n: number; edit: boolean }
  | { do: 'reject'; n: number }
  | { do: 'advance'; ms: number }
  | { do: 'enable'; on: boolean }
  | { do: 'open case'; stage: string | null }
  | { do: 'move case'; n: number; stage: string }
  | { do: 'set case status'; n: number; status: 'open' | 'closed' }
  | { do: 'task on case'; n: number }
  | { do: 'put record'; key: string; value: number; version: number | null }
  | { do: 'delete record'; n: number }
  | { do: 'create schedule'; everyS: number; enabled: boolean }
  | { do: 'switch schedule'; n: number; enabled: boolean }
  | { do: 'delete schedule' | 'run schedule'; n: number }
  | { do: 'create connection'; label: string }
  | { do: 'rename connection'; n: number; label: string }
  | { do: 'write secret' | 'delete connection'; n: number }

/** A `held` task continues when its upstream call has timed out. */
const CALL_TIMEOUT_MS = 20_000
const MAX_RUNTIME_MS = 1_800_000

/** The API contract as a pure function: the next state, and the response that the client must get. */
export function applyAction(state: ModelState, action: ModelAction): StepResult {
  switch (action.do) {
    case 'create':
      return createTask(state, action)
    case 'retry':
      return retryTask(state, pickSubject(state.tasks, action))
    case 'cancel':
      return cancelTask(state, pickSubject(state.tasks, action))
    case 'feedback':
      return giveFeedback(state, action)
    case 'approve':
      return approveStep(state, pickSubject(state.approvals, action), action.edit)
    case 'reject':
      return rejectStep(state, pickSubject(state.approvals, action))
    case 'advance':
      return [advanceTime(state, action.ms), { status: 200 }]
    case 'enable':
      return [{ ...state, enabled: action.on }, { status: 200 }]
    case 'open case':
      return openCase(state, action)
    case 'move case':
      return moveCase(state, pickSubject(state.cases, action), action)
    case 'set case status':
      return setCaseStatus(state, pickSubject(state.cases, action), action)
    case 'task on case':
      return createCaseTask(state, pickSubject(state.cases, action))
    case 'put record':
      return putRecord(state, action)
    case 'delete record':
      return deleteRecord(state, pickSubject(state.records, action))
    case 'create schedule':
      return createSchedule(state, action)
    case 'switch schedule':
      return switchSchedule(state, pickSubject(state.schedules, action), action)
    case 'delete schedule':
      return deleteSchedule(state, pickSubject(state.schedules, action))
    case 'run schedule':
      return runSchedule(state, pickSubject(state.schedules, action))
    case 'create connection':
      return createConnection(state, action)
    case 'rename connection':
      return renameConnection(state, pickSubject(state.connections, action), action)
    case 'write secret':
      return writeSecret(state, pickSubject(state.connections, action))
    case 'delete connection':
      break
  }
  return deleteConnection(state, pickSubject(state.connections, action))
}

/** Whether an object exists that the action can change. */
export function isApplicable(state: ModelState, action: ModelAction): boolean {
  // The contract does not define whether a call timeout or the runtime limit comes first.
  if (action.do === 'advance') return action.ms < MAX_RUNTIME_MS || !state.tasks.some(isHeld)
  return !('n' in action) || subjects(state, action.do).length > 0
}

/** The name of the object that the action changes. */
export function subjectOf(state: ModelState, action: ModelAction & { n: number }): string {
  return pickSubject(subjects(state, action.do), action)
}

function subjects(state: ModelState, kind: ModelAction['do']): readonly string[] {
  if (kind === 'approve' || kind === 'reject') return state.approvals.map(({ task }) => task)
  if (kind.endsWith('case') || kind === 'set case status') return state.cases.map(({ name }) => name)
  if (kind.endsWith('record')) return state.records.map(({ key }) => key)
  if (kind.endsWith('schedule')) return state.schedules.map(({ name }) => name)
  if (kind.endsWith('connection') || kind.endsWith('secret')) return state.connections.map(({ name }) => name)
  return state.tasks.map(({ name }) => name)
}

function pickSubject<T>(list: readonly T[], { n }: { n: number }): T {
  const found = list[n % list.length]
  if (found === undefined) throw new Error('the action does not apply')
  return found
}

const isHeld = ({ kind, status }: ModelState['tasks'][number]) => kind === 'held' && status === 'running'

function advanceTime(state: ModelState, ms: number): ModelState {
  const later = { ...state, now: state.now + ms }
  const held = ms >= CALL_TIMEOUT_MS ? later.tasks.filter(isHeld) : []
  return fireDueSchedules(
    expireApprovals(held.reduce((next, { name }) => withEndedTask(next, name, 'succeeded'), later)),
  )
}
