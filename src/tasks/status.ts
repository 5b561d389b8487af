/** Task status, and the moves between them: the table of the contract's section 3.1. Everything goes through it. */
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

export type TerminalStatus = 'succeeded' | 'failed' | 'rejected' | 'expired' | 'cancelled'

const TASK_MOVES: Record<TaskStatus, readonly TaskStatus[]> = {
  queued: ['provisioning', 'failed', 'cancelled'],
  provisioning: ['running', 'failed', 'cancelled'],
  running: ['awaiting_approval', 'succeeded', 'failed', 'cancelled'],
  // A cancel settles the waiter as a rejection, so `cancelled` cannot follow.
  awaiting_approval: ['running', 'failed', 'rejected', 'expired'],
  succeeded: [],
  failed: [],
  rejected: [],
  expired: [],
  cancelled: [],
}

const isTaskStatus = (text: string): text is TaskStatus => TASK_STATUSES.some((status) => status === text)

export const isTerminalStatus = (status: string): boolean => isTaskStatus(status) && TASK_MOVES[status].length === 0

export const TERMINAL_STATUSES: readonly TaskStatus[] = TASK_STATUSES.filter(isTerminalStatus)

/** Of a task that a replica has claimed and not ended. */
export const CLAIMED_STATUSES = ['provisioning', 'running', 'awaiting_approval'] as const satisfies TaskStatus[]

/** The statuses from which a task may come to this one. */
export const statusesBefore = (to: TaskStatus): TaskStatus[] =>
  TASK_STATUSES.filter((from) => TASK_MOVES[from].includes(to))

/** Why a task did not succeed. */
export interface TaskError {
  reason: TaskErrorReason
  message: string
}

type TaskErrorReason =
  | 'output_invalid'
  | 'rejected'
  | 'expired'
  | 'cancelled'
  | 'interrupted'
  | 'runtime_exceeded'
  | 'cost_exceeded'
  | 'sandbox_failed'
  | 'model_failed'
  | 'connection_missing'
  | 'agent_failed'
