import { type RunnerLimits, takesTask } from '../config/role-settings.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { toIsoTime } from '../ctx/world.ts'
import type { TaskRow } from '../store/tables.ts'
import { findTaskType } from '../wedges/task-type.ts'
import { listRunners, listWaitingTasks, type RunnerRow } from './rows.ts'
import { LEASE_TIMEOUT_MS } from './status.ts'
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
 * Why queued ones of these tasks wait, by task. A project waits while a replica has as many runs of it that wait for
 * approvals in cells of their own as it may have; the runner then claims no task of the project. A task waits for a replica
 * if every one that is alive is limited to other projects or wedges.
 */
export async function readQueueReasons(ctx: Ctx, tasks: readonly TaskRow[]): Promise<Map<string, string>> {
  const queued = tasks.filter(({ status }) => status === 'queued')
  if (queued.length === 0) return new Map()
  const runners = await listRunners(ctx.db, { since: toIsoTime(ctx.world.clock.now() - LEASE_TIMEOUT_MS) })
  const limits = runners.map(toRunnerLimits)
  const full = await findFullProjects(ctx, queued)
  return new Map(
    queued.flatMap((task): [string, string][] => {
      if (!limits.some((limit) => takesTask(limit, task))) return [[task.id, toNoRunnerReason(task, limits.length > 0)]]
      return full.has(task.project_id) ? [[task.id, toFullReason(ctx)]] : []
    }),
  )
}

async function findFullProjects(ctx: Ctx, queued: readonly TaskRow[]): Promise<Set<string>> {
  const full = new Set<string>()
  for (const project_id of new Set(queued.map((task) => task.project_id))) {
    const waiting = await listWaitingTasks(ctx.db, { project_id })
    const perReplica = new Map<string | null, number>()
    for (const task of waiting.filter((one) => needsOwnCell(ctx, one)))
      perReplica.set(task.replica, (perReplica.get(task.replica) ?? 0) + 1)
    if (Math.max(0, ...perReplica.values()) >= ctx.config.maxWaitingRuns) full.add(project_id)
  }
  return full
}

const toRunnerLimits = ({ runner_projects, runner_wedges }: RunnerRow): RunnerLimits => ({
  runnerProjects: runner_projects && JSON.parse(runner_projects),
  runnerWedges: runner_wedges && JSON.parse(runner_wedges),
})

const toNoRunnerReason = ({ wedge }: TaskRow, hasRunners: boolean) =>
  hasRunners
    ? `no running replica takes tasks of the wedge '${wedge}' in this project: see SVC_RUNNER_PROJECTS and SVC_RUNNER_WEDGES`
    : 'no replica that runs tasks is available'

const toFullReason = ({ config }: Ctx) =>
  `${config.maxWaitingRuns} runs of this project wait for approvals in their own sandboxes, which is the limit: ` +
  'decide one of their approvals'
