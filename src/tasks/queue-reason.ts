import type { Ctx } from '../ctx/ctx.ts'
import type { TaskRow } from '../store/tables.ts'
import { findTaskType } from '../wedges/task-type.ts'
import { listWaitingTasks } from './rows.ts'
import { canExecuteCode, toolsOfTask } from './tools.ts'
import { parseTaskTools } from './view.ts'

/** Whether the run of a task gets a cell of its own: custom agents, and agents that can execute code. */
export function needsOwnCell(
  ctx: Pick<Ctx, 'config' | 'wedges'>,
  task: Pick<TaskRow, 'wedge' | 'task_type' | 'tools'>,
): boolean {
  if (ctx.config.agentCommand !== null) return true
  const wedge = ctx.wedges.get(task.wedge)
  if (!wedge) return false
  const hasAgent = findTaskType(wedge, task.task_type)?.harness.agent !== undefined
  return hasAgent || canExecuteCode(toolsOfTask(wedge.manifest, parseTaskTools(task)))
}

/**
 * Why the queued ones of these tasks wait, by project. A project waits while a replica has as many runs of it that wait for
 * approvals in cells of their own as it may have; the runner then claims no task of the project.
 */
export async function readQueueReasons(ctx: Ctx, tasks: readonly TaskRow[]): Promise<Map<string, string>> {
  const projectIds = new Set(tasks.flatMap(({ status, project_id }) => (status === 'queued' ? [project_id] : [])))
  const reasons = new Map<string, string>()
  for (const project_id of projectIds) {
    const waiting = await listWaitingTasks(ctx.db, { project_id })
    const perReplica = new Map<string | null, number>()
    for (const task of waiting.filter((one) => needsOwnCell(ctx, one)))
      perReplica.set(task.replica, (perReplica.get(task.replica) ?? 0) + 1)
    if (Math.max(0, ...perReplica.values()) >= ctx.config.maxWaitingRuns) reasons.set(project_id, toReason(ctx))
  }
  return reasons
}

const toReason = ({ config }: Ctx) =>
  `${config.maxWaitingRuns} runs of this project wait for approvals in their own sandboxes, which is the limit: ` +
  'decide one of their approvals'
