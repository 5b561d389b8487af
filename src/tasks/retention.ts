import { appendAuditEntry } from '../audit/append.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../ctx/scope.ts'
import { isoNow, toIsoTime } from '../ctx/world.ts'
import { deleteEventsBefore, findFirstEventNumber, findFinishedEventNumber } from '../events/rows.ts'
import {
  deleteArtifactWithFile,
  listArtifactFiles,
  updateTaskLogPruned,
  listTasksWithOldLogs,
} from './retention-rows.ts'
import { lockTask } from '../lifecycle/rows.ts'

const DAY_MS = 24 * 60 * 60_000
/** What one transaction may remove, in events: nobody else waits longer than for a page of them. */
const MAX_EVENTS_PER_BATCH = 2_000
/** A file counts for as many events as take its room. */
const BYTES_PER_EVENT = 16 * 1024
const MAX_TASKS_PER_BATCH = 100
/** What one round may do, so that a process that stops need not wait for the end of a long tail. */
const MAX_BATCHES_PER_SWEEP = 10

/**
 * Removes logs and files of tasks that ended longer ago than the deployment keeps them, batch after batch, and answers
 * with how many. The row of the task stays, with its output, cost, approvals and effects, and so does the end of its
 * log: `task.finished` and the notes behind it. Safe for every replica to do at once.
 */
export async function pruneOldLogs(ctx: Ctx, days: number): Promise<number> {
  const before = toIsoTime(ctx.world.clock.now() - days * DAY_MS)
  for (let batches = 0; batches < MAX_BATCHES_PER_SWEEP; batches++) {
    const old = await listTasksWithOldLogs(ctx.db, { before, limit: MAX_TASKS_PER_BATCH })
    const projectId = old[0]?.project_id
    if (projectId === undefined) return batches
    const ids = old.filter((task) => task.project_id === projectId).map(({ id }) => id)
    await inTx(ctx, (tx) => pruneBatch(tx, projectId, ids, before))
  }
  return MAX_BATCHES_PER_SWEEP
}

/** What a batch has removed so far, and what it may still remove. */
interface PruneBatch {
  room: number
  tasks: string[]
  events: number
  files: number
}

async function pruneBatch(tx: Tx, projectId: string, ids: readonly string[], before: string): Promise<void> {
  const batch: PruneBatch = { room: MAX_EVENTS_PER_BATCH, tasks: [], events: 0, files: 0 }
  for (const id of ids) {
    if (batch.room <= 0) break
    const [task] = await lockTask(tx.db, { id })
    // Another replica was here first.
    if (!task || task.log_pruned_at !== null) continue
    batch.tasks.push(id)
    await pruneFiles(tx, id, batch)
    await pruneEvents(tx, id, batch)
  }
  if (batch.tasks.length === 0) return
  const { tasks, events, files } = batch
  await appendAuditEntry(tx, projectId, SYSTEM_ACTOR, 'log.pruned', projectId, {
    tasks,
    events,
    files,
    finished_before: before,
  })
}

async function pruneFiles(tx: Tx, taskId: string, batch: PruneBatch): Promise<void> {
  for (const { id, size } of await listArtifactFiles(tx.db, { task_id: taskId })) {
    if (batch.room <= 0) return
    await deleteArtifactWithFile(tx.db, { id })
    batch.room -= Math.ceil(size / BYTES_PER_EVENT)
    batch.files++
  }
}

/** From the beginning of the log up to its end, which stays. A log that is too long for one batch is done by many. */
async function pruneEvents(tx: Tx, taskId: string, batch: PruneBatch): Promise<void> {
  if (batch.room <= 0) return
  const [first] = await findFirstEventNumber(tx.db, { task_id: taskId })
  const [last] = await findFinishedEventNumber(tx.db, { task_id: taskId })
  if (first && last) {
    const seq = Math.min(last.seq, first.seq + batch.room)
    await deleteEventsBefore(tx.db, { task_id: taskId, seq })
    batch.room -= seq - first.seq
    batch.events += seq - first.seq
    if (seq < last.seq) return
  }
  await updateTaskLogPruned(tx.db, { id: taskId, at: isoNow(tx) })
}
