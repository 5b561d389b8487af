import { setImmediate } from 'node:timers/promises'
import { countStoredBytes } from '../../identity/limits/storage-usage.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { createId } from '../../platform/base/ids.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'
import { toIsoTime } from '../../platform/ctx/world.ts'
import { tryExclusiveWork } from '../../platform/store/dialect.ts'
import { lockTask } from '../../work/tasks/rows.ts'
import { deleteTasks, listDeletableTasks, listTasksInOrder, type OldTask } from './old-task-rows.ts'

const DAY_MS = 24 * 60 * 60_000
/** Limits one transaction, so that other writers never wait long for it. */
const TASKS_PER_BATCH = 25
/** Limits one round, so that a stopping process does not wait for a long backlog. */
const MAX_BATCHES_PER_ROUND = 40

/**
 * Deletes tasks that finished more than `days` ago, with everything that belongs to them. Their logs and files were removed
 * before by the retention of logs. The audit log and the sums of the reports stay. One round reads 1,000 tasks at most,
 * after the given id, and returns the id after which the next round continues.
 */
export async function deleteOldTasks(ctx: Ctx, days: number, after = ''): Promise<string> {
  const beforeMs = ctx.world.clock.now() - days * DAY_MS
  const before = toIsoTime(beforeMs)
  const beforeId = createId('task', beforeMs, (bytes) => new Uint8Array(bytes))
  let last = after
  for (let batch = 0; batch < MAX_BATCHES_PER_ROUND; batch++) {
    const tasks = await listTasksInOrder(ctx.db, { after: last, before_id: beforeId, limit: TASKS_PER_BATCH })
    for (const [projectId, ids] of await listDeletable(ctx, tasks, before))
      await inTx(ctx, (tx) => deleteBatch(tx, projectId, ids, before))
    if (tasks.length < TASKS_PER_BATCH) return ''
    last = tasks.at(-1)?.id ?? ''
    // Let other requests run.
    await setImmediate()
  }
  return last
}

const isPastRetention = ({ finished_at, log_pruned_at }: OldTask, before: string): boolean =>
  finished_at !== null && finished_at < before && log_pruned_at !== null

/** Without locks: a task that must be kept, perhaps for years, is not locked in every round. */
async function listDeletable(ctx: Ctx, tasks: readonly OldTask[], before: string): Promise<Map<string, string[]>> {
  const old = tasks.filter((task) => isPastRetention(task, before))
  if (old.length === 0) return new Map()
  const deletable = new Set(
    await listDeletableTasks(
      ctx.db,
      old.map(({ id }) => id),
    ),
  )
  return groupByProject(old.filter(({ id }) => deletable.has(id)))
}

function groupByProject(tasks: readonly OldTask[]): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const { id, project_id } of tasks) groups.set(project_id, [...(groups.get(project_id) ?? []), id])
  return groups
}

async function deleteBatch(tx: Tx, projectId: string, ids: readonly string[], before: string): Promise<void> {
  if (!(await tryExclusiveWork(tx.db, 'task retention'))) return
  // Feedback and decisions lock the task too, so that nothing is added to a task that is being deleted.
  for (const id of ids) await lockTask(tx.db, { id })
  const tasks = await listDeletableTasks(tx.db, ids)
  if (tasks.length === 0) return
  const { eventBytes } = await deleteTasks(tx.db, tasks)
  countStoredBytes(tx, projectId, -eventBytes)
  await appendAuditEntry(tx, projectId, SYSTEM_ACTOR, 'task.deleted', projectId, { tasks, finished_before: before })
}
