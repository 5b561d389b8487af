import { type CaseState, withChange, type ModelState, type StepResult } from './model-state.ts'
import { withTask, nextTaskName } from './tasks.ts'

export const STAGES = ['new', 'doing', 'done']

export function openCase(state: ModelState, { stage }: { stage: string | null }): StepResult {
  if (!state.enabled) return [state, { status: 403 }]
  if (stage !== null && !STAGES.includes(stage)) return [state, { status: 400 }]
  const name = `c${state.cases.length + 1}`
  const opened: CaseState = { name, stage: stage ?? 'new', status: 'open', entries: 1 }
  return [
    { ...state, cases: [...state.cases, opened] },
    { status: 201, subject: name },
  ]
}

/** A case may move from any declared stage to any other. */
export function moveCase(state: ModelState, found: CaseState, { stage }: { stage: string }): StepResult {
  if (!STAGES.includes(stage)) return [state, { status: 400 }]
  return [withCase(state, found, { stage, entries: found.entries + (stage === found.stage ? 0 : 1) }), { status: 200 }]
}

/** Closes or reopens a case. Repeating it adds no entry to the history. */
export function setCaseStatus(state: ModelState, found: CaseState, { status }: Pick<CaseState, 'status'>): StepResult {
  const entries = found.entries + (status === found.status ? 0 : 1)
  return [withCase(state, found, { status, entries }), { status: 200 }]
}

/** A closed case refuses new tasks. */
export function createCaseTask(state: ModelState, found: CaseState): StepResult {
  if (!state.enabled) return [state, { status: 403 }]
  if (found.status === 'closed') return [state, { status: 409 }]
  const name = nextTaskName(state)
  return [withTask(state, name, 'say', { onCase: found.name }), { status: 201, subject: name }]
}

function withCase(state: ModelState, { name }: CaseState, change: Partial<CaseState>): ModelState {
  return { ...state, cases: withChange(state.cases, (row) => row.name === name, change) }
}
