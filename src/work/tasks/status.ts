import { TERMINAL_STATUSES } from '../events/event-types.ts'

/** The statuses of a task. `approvals/lifecycle/states.ts` explains the moves between them. */
export const TASK_STATUSES = [
  'queued',
  'provisioning',
  'running',
  'awaiting_approval',
  'succeeded',
  'failed',
  'rejected',
  'expired',
  'cancelled',
] as const
export type TaskStatus = (typeof TASK_STATUSES)[number]

export type TerminalStatus = (typeof TERMINAL_STATUSES)[number]

export const isTerminalStatus = (status: string): boolean => TERMINAL_STATUSES.some((one) => one === status)

/** The statuses of a task that a replica has claimed and not ended. */
export const CLAIMED_STATUSES = ['provisioning', 'running', 'awaiting_approval'] as const satisfies TaskStatus[]

/** Why a task did not succeed. */
export interface TaskError {
  reason: TaskErrorReason
  message: string
}

/** Why a task failed. */
export const FAILURE_REASONS = [
  'output_invalid',
  'interrupted',
  'runtime_exceeded',
  'cost_exceeded',
  'sandbox_failed',
  'model_failed',
  'connection_missing',
  'agent_failed',
] as const

type TaskErrorReason = (typeof FAILURE_REASONS)[number] | 'rejected' | 'expired' | 'cancelled'
