import { type CaseState, changed, type State, type Step } from './state.ts'
import { begun, nextName } from './tasks.ts'

export const STAGES = ['new', 'doing', 'done']

export function openCase(state: State, { stage }: { stage: string | null }): Step {
  if (!state.enabled) return [state, { status: 403 }]
  if (stage !== null && !STAGES.includes(stage)) return [state, { status: 400 }]
  const name = `c${state.cases.length + 1}`
  const opened: CaseState = { name, stage: stage ?? 'new', status: 'open', entries: 1 }
  return [
    { ...state, cases: [...state.cases, opened] },
    { status: 201, shows: name },
  ]
}

/** Any declared stage may follow any other. */
export function moveCase(state: State, found: CaseState, { stage }: { stage: string }): Step {
  if (!STAGES.includes(stage)) return [state, { status: 400 }]
  return [withCase(state, found, { stage, entries: found.entries + (stage === found.stage ? 0 : 1) }), { status: 200 }]
}

/** Closing and reopening; doing so again changes nothing. */
export function turnCase(state: State, found: CaseState, { status }: Pick<CaseState, 'status'>): Step {
  const entries = found.entries + (status === found.status ? 0 : 1)
  return [withCase(state, found, { status, entries }), { status: 200 }]
}

/** A closed case refuses new tasks. */
export function caseTask(state: State, found: CaseState): Step {
  if (!state.enabled) return [state, { status: 403 }]
  if (found.status === 'closed') return [state, { status: 409 }]
  const name = nextName(state)
  return [begun(state, name, 'say', { onCase: found.name }), { status: 201, shows: name }]
}

function withCase(state: State, { name }: CaseState, change: Partial<CaseState>): State {
  return { ...state, cases: changed(state.cases, (one) => one.name === name, change) }
}
