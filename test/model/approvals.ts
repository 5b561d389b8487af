import { type ApprovalState, callsUpstream, type ModelState, type StepResult } from './model-state.ts'
import { withDecision, withEndedTask } from './tasks.ts'

/** The run continues with the approved action; an edited action payload becomes knowledge. */
export function approveStep(state: ModelState, { task, status }: ApprovalState, edit: boolean): StepResult {
  if (status !== 'pending') return [state, { status: 409 }]
  const kind = state.tasks.find(({ name }) => name === task)?.kind
  const edited = edit && kind !== undefined && callsUpstream(kind)
  const learned = { ...state, lessons: state.lessons + (edited ? 1 : 0) }
  return [withEndedTask(withDecision(learned, task, 'approved', edited), task, 'succeeded'), { status: 200 }]
}

/** A rejection ends the task. */
export function rejectStep(state: ModelState, { task, status }: ApprovalState): StepResult {
  if (status !== 'pending') return [state, { status: 409 }]
  return [withEndedTask(withDecision(state, task, 'rejected'), task, 'rejected', 'rejected'), { status: 200 }]
}

export function expireApprovals(state: ModelState): ModelState {
  const due = state.approvals.filter(({ status, expiresAt }) => status === 'pending' && (expiresAt ?? 0) <= state.now)
  return due.reduce(
    (next, { task }) => withEndedTask(withDecision(next, task, 'expired'), task, 'expired', 'expired'),
    state,
  )
}
