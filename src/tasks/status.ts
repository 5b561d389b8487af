/** Task status, and the moves between them: the table of the contract's section 3.1. Everything goes through it. */
export const STATUSES = [
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
export type Status = (typeof STATUSES)[number]

export type TerminalStatus = 'succeeded' | 'failed' | 'rejected' | 'expired' | 'cancelled'

const MOVES: Record<Status, readonly Status[]> = {
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

const isStatus = (text: string): text is Status => STATUSES.some((status) => status === text)

export const isTerminal = (status: string): boolean => isStatus(status) && MOVES[status].length === 0

export const TERMINAL: readonly Status[] = STATUSES.filter(isTerminal)

/** Of a task that a replica has claimed and not ended. */
export const ACTIVE = ['provisioning', 'running', 'awaiting_approval'] as const satisfies Status[]

/** The statuses from which a task may come to this one. */
export const before = (to: Status): Status[] => STATUSES.filter((from) => MOVES[from].includes(to))

/** Why a task did not succeed. */
export interface TaskError {
  reason: ErrorReason
  message: string
}

type ErrorReason =
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
