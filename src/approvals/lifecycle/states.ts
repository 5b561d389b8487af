import { TASK_STATUSES, type TaskStatus, type TerminalStatus } from '../../work/tasks/status.ts'

/**
 * The life of a task. Every change of its status is one of the moves below; a claim with a ready cell makes two at once.
 *
 *     queued ──▶ provisioning ──▶ running ──▶ succeeded
 *       │             │            │   ▲
 *       │             │            ▼   │ approve
 *       │             │       awaiting_approval ──▶ rejected, expired
 *       └─────────────┴────────────┴──▶ failed (also from awaiting_approval), cancelled
 *
 * - Create (`work/tasks/create-task.ts`): the task is `queued`. If this replica has a free slot and a ready cell, the task
 *   starts in the same transaction (`start-on-create.ts`).
 * - Claim (`execution/runs/claim/claim-tasks.ts`): a replica takes a queued task, raises its epoch and puts its own id on the row. The
 *   task is `provisioning` until it has a cell, or `running` at once if a cell is ready.
 * - Run (`execution/runs/session/execute-run.ts`): the agent works. Every write of the run carries the epoch of its claim.
 * - Wait (`wait-and-resume.ts`): a gated action that no policy rule approves makes the task `awaiting_approval`. After
 *   SVC_PARK_AFTER_S the run leaves its cell and the task its replica. When the last pending approval is approved, the
 *   task is `running` again; if no replica has it, the next claim continues it.
 * - Reject (`approvals/decisions/decide-approval.ts`) ends the task as `rejected`. A rejected question only has no answer.
 * - Expire (`expire-approvals.ts`): an approval that is not decided before its `expires_at` ends the task as `expired`.
 * - Cancel (`cancel-task.ts`) ends the task as `cancelled`, or as `rejected` if the task waits for an approval.
 * - Finish (`execution/runs/session/finish-run.ts`): valid output ends the task as `succeeded`, everything else as `failed`.
 * - Retry (`retry-task.ts`) creates a new task. A finished task never changes its status again.
 *
 * Every end goes through `end-task.ts`. It closes the pending approvals, writes `task.finished` and stops the run.
 *
 * When a replica dies, the others notice that its heartbeat stopped (10 s). They mark actions without a known outcome as
 * `unknown`, release the tasks that another process can continue (those that wait, and those whose type is resumable),
 * and end the rest as `failed` with reason `interrupted`. With SQLite the next start of the service does this. See
 * `execution/runs/replicas/dead-replicas.ts` and `execution/runs/resume/park-run.ts`. Queued tasks stay queued. A replica that is alive but no
 * longer runs one of its tasks releases or ends it itself, or runs it again if the agent has done nothing
 * (`execution/runs/replicas/orphaned-tasks.ts`).
 */
const TASK_MOVES: Record<Exclude<TaskStatus, TerminalStatus>, readonly TaskStatus[]> = {
  queued: ['provisioning', 'failed', 'cancelled'],
  provisioning: ['running', 'failed', 'cancelled'],
  running: ['awaiting_approval', 'succeeded', 'failed', 'cancelled'],
  // A waiting task that is cancelled ends as `rejected`.
  awaiting_approval: ['running', 'failed', 'rejected', 'expired'],
}

const MOVES_BY_STATUS: Partial<Record<TaskStatus, readonly TaskStatus[]>> = TASK_MOVES

/** The statuses from which a task can move to this one. */
export const statusesBefore = (to: TaskStatus): TaskStatus[] =>
  TASK_STATUSES.filter((from) => MOVES_BY_STATUS[from]?.includes(to))
