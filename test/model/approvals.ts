import { type ApprovalState, leaves, type State, type Step } from './state.ts'
import { decided, ended } from './tasks.ts'

/** The run goes on and does what was approved; an edit on the action path teaches the wedge. */
export function approve(state: State, { task, status }: ApprovalState, edit: boolean): Step {
  if (status !== 'pending') return [state, { status: 409 }]
  const kind = state.tasks.find(({ name }) => name === task)?.kind
  const edited = edit && kind !== undefined && leaves(kind)
  const taught = { ...state, lessons: state.lessons + (edited ? 1 : 0) }
  return [ended(decided(taught, task, 'approved', edited), task, 'succeeded'), { status: 200 }]
}

/** Rejecting ends the whole task. */
export function reject(state: State, { task, status }: ApprovalState): Step {
  if (status !== 'pending') return [state, { status: 409 }]
  return [ended(decided(state, task, 'rejected'), task, 'rejected', 'rejected'), { status: 200 }]
}

export function expired(state: State): State {
  const due = state.approvals.filter(({ status, expiresAt }) => status === 'pending' && (expiresAt ?? 0) <= state.now)
  return due.reduce((next, { task }) => ended(decided(next, task, 'expired'), task, 'expired', 'expired'), state)
}
