import { type RunnerLimits, takesTask } from '../../platform/config/role-settings.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { toIsoTime } from '../../platform/ctx/world.ts'
import type { TaskRow } from '../../platform/store/tables.ts'
import { findTaskType } from '../../wedges/library/task-type.ts'
import { listUnfinishedTasksOfThreads, type UnfinishedThreadTask } from './thread-task-rows.ts'
import { listRunners, listWaitingTasks, type RunnerRow } from './rows.ts'
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

/** What a queued task waits for, and the same as a sentence. */
export interface QueueWait {
  waiting_for: { kind: 'thread' | 'capacity' | 'runner'; id?: string }
  queue_reason: string
}

/**
 * Why queued ones of these tasks wait, by task. A project waits while a replica has as many runs of it that wait for
 * approvals in cells of their own as it may have; the runner then claims no task of the project. A task waits for a replica
 * if every one that is alive is limited to other projects or wedges, and for its thread while an earlier task of it has not
 * ended.
 */
export async function readQueueWaits(ctx: Ctx, tasks: readonly TaskRow[]): Promise<Map<string, QueueWait>> {
  const queued = tasks.filter(({ status }) => status === 'queued')
  if (queued.length === 0) return new Map()
  const runners = await listRunners(ctx.db, { since: toIsoTime(ctx.world.clock.now() - ctx.config.leaseMs) })
  const limits = runners.map(toRunnerLimits)
  const behind = await findTasksBehindOthers(ctx, queued)
  const full = await findFullProjects(ctx, queued)
  const toWait = (task: TaskRow): QueueWait | null => {
    if (!limits.some((limit) => takesTask(limit, task))) return toRunnerWait(task, limits.length > 0)
    if (task.thread_id !== null && behind.has(task.id)) return toThreadWait(task.thread_id)
    return full.has(task.project_id) ? toCapacityWait(ctx) : null
  }
  return new Map(
    queued.flatMap((task): [string, QueueWait][] => {
      const wait = toWait(task)
      return wait ? [[task.id, wait]] : []
    }),
  )
}

/** The tasks that may not start because a thread has one run at a time, in the order of the ids. */
async function findTasksBehindOthers(ctx: Ctx, queued: readonly TaskRow[]): Promise<Set<string>> {
  const threads = new Set(queued.flatMap(({ thread_id }) => thread_id ?? []))
  const unfinished = await listUnfinishedTasksOfThreads(ctx.db, [...threads])
  return new Set(queued.filter((task) => unfinished.some((other) => isBefore(other, task))).map(({ id }) => id))
}

const isBefore = (other: UnfinishedThreadTask, task: TaskRow) =>
  other.thread_id === task.thread_id && (other.status !== 'queued' || other.id < task.id)

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

const toRunnerWait = ({ wedge }: TaskRow, hasRunners: boolean): QueueWait => ({
  waiting_for: { kind: 'runner' },
  queue_reason: hasRunners
    ? `no running replica takes tasks of the wedge '${wedge}' in this project: see SVC_RUNNER_PROJECTS and SVC_RUNNER_WEDGES`
    : 'no replica that runs tasks is available',
})

const toThreadWait = (id: string): QueueWait => ({
  waiting_for: { kind: 'thread', id },
  queue_reason: 'waits until the earlier message of this conversation is answered',
})

const toCapacityWait = ({ config }: Ctx): QueueWait => ({
  waiting_for: { kind: 'capacity' },
  queue_reason:
    `${config.maxWaitingRuns} runs of this project wait for approvals in their own sandboxes, which is the limit: ` +
    'decide one of their approvals',
})
