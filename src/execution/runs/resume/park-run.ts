import { findEffect } from '../../../approvals/effects/effect-rows.ts'
import type { OpenRequest } from '../../../approvals/policy/gated-request.ts'
import { isWithdrawn } from '../../../connections/actions/send-action.ts'
import { type Ctx, inDurableTx, type Tx } from '../../../platform/ctx/ctx.ts'
import { releaseTask, releaseWaitingTask } from '../../../approvals/lifecycle/wait-and-resume.ts'
import { findRunState } from '../../../approvals/lifecycle/run-state-rows.ts'
import type { RunStateRow } from '../../../platform/store/tables.ts'
import { lockTask } from '../../../work/tasks/rows.ts'
import { canExecuteCode, toolsOfTask } from '../../../work/tasks/tools.ts'
import { parseTaskTools } from '../../../work/tasks/view.ts'
import type { RunFacts } from '../session/run-facts.ts'
import { endRun } from '../session/run-ending.ts'
import type { TaskRun } from '../session/task-run.ts'
import { Parking } from './parking.ts'

/** When the run leaves its cell. A run with files stays, because its files would be lost. */
export function createParking(
  ctx: Ctx,
  run: Pick<TaskRun, 'facts' | 'stored' | 'workingTime' | 'ending' | 'log' | 'model'>,
): Parking {
  const { facts, stored, workingTime, ending } = run
  const parking = new Parking(ctx.world.clock, ctx.config.parkAfterS, {
    canLeaveCell: () => workingTime.isWaiting && stored.canContinueElsewhere(facts.cellKind) && !hasFiles(facts),
    leaveCell: () =>
      void parkRun(ctx, run).catch((err) => ctx.world.log.warn({ err, task: facts.taskId }, 'run could not be parked')),
  })
  void ending.over.whenAborted.then(() => parking.stopTimer())
  return parking
}

/** Releases the task of a waiting run and ends the run. The run goes on here if the decision came first. */
async function parkRun(ctx: Ctx, run: Pick<TaskRun, 'facts' | 'ending' | 'log' | 'model'>): Promise<void> {
  await run.log.flush()
  if (await inDurableTx(ctx, (tx) => releaseWaitingTask(tx, run.facts), run.ending.over.signal)) endRun(run, 'parked')
}

/** The agent can write files, which exist only in its cell. */
export const hasFiles = ({ task, wedge, cellKind }: RunFacts): boolean => {
  const tools = toolsOfTask(wedge.manifest, parseTaskTools(task))
  return cellKind !== 'custom' && (canExecuteCode(tools) || tools.includes('write_file'))
}

/**
 * Releases a task whose replica is gone, if another process can continue it: its run waits for a person, was approved
 * and has not acted on it, or is resumable. False if its run is lost.
 */
export async function tryReleaseTask(tx: Tx, { id, epoch }: { id: string; epoch: number }): Promise<boolean> {
  const [task] = await lockTask(tx.db, { id })
  if (task?.epoch !== epoch) return false
  const [state] = await findRunState(tx.db, { task_id: id })
  if (!state) return false
  if (task.status === 'running' && !(await canContinue(tx, state))) return false
  return releaseTask(tx, { taskId: id, epoch })
}

/** A run whose process died this often without progress would probably make the next one die too. */
const MAX_RESUMES_WITHOUT_PROGRESS = 3

async function canContinue(tx: Tx, { resumes, is_resumable, requests }: RunStateRow): Promise<boolean> {
  if (resumes >= MAX_RESUMES_WITHOUT_PROGRESS) return false
  const open: OpenRequest[] = JSON.parse(requests)
  return is_resumable === 1 || !(await hasActed(tx, open.at(-1)))
}

/** The approved action was sent, or may have been, so it must not be sent again. */
async function hasActed(tx: Tx, request: OpenRequest | undefined): Promise<boolean> {
  if (!request || request.is_answered) return true
  const [effect] = await findEffect(tx.db, { id: request.approval_id })
  return effect !== undefined && !isWithdrawn(effect)
}
