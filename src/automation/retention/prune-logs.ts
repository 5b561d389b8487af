import { setImmediate } from 'node:timers/promises'
import { countStoredBytes } from '../../identity/limits/storage-usage.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'
import { isoNow, toIsoTime } from '../../platform/ctx/world.ts'
import { findFinishedEventNumber } from '../../work/events/rows.ts'
import { removeArtifactObject } from '../../work/files/artifact-objects.ts'
import { deleteTranscript } from '../../approvals/lifecycle/transcript-rows.ts'
import {
  deleteArtifactWithFile,
  deleteEffectResults,
  deleteEventsBefore,
  findFirstEventNumber,
  listArtifactFiles,
  listTasksWithOldLogs,
  sumEventBytesBefore,
  updateTaskLogPruned,
} from './log-rows.ts'
import { lockTask } from '../../work/tasks/rows.ts'

const DAY_MS = 24 * 60 * 60_000
/** Limits what one transaction removes, so that other writers never wait long for it. */
const MAX_EVENTS_PER_BATCH = 2_000
/** A file counts as one event per 16 KiB. */
const BYTES_PER_EVENT = 16 * 1024
/** About 10 ms on SQLite, where a transaction blocks the event loop. */
const MAX_TASKS_PER_BATCH = 25
/** Limits one sweep, so that a stopping process does not wait for a long backlog. */
const MAX_BATCHES_PER_SWEEP = 40

/**
 * Removes the logs, transcripts and files of tasks that finished more than `days` ago, in batches, and returns the number of batches.
 * The task keeps its row with output, cost, approvals and the outcomes of effects, and the end of its log: `task.finished` and the
 * feedback after it. All replicas can run this at the same time.
 */
export async function pruneOldLogs(ctx: Ctx, days: number): Promise<number> {
  const before = toIsoTime(ctx.world.clock.now() - days * DAY_MS)
  for (let batches = 0; batches < MAX_BATCHES_PER_SWEEP; batches++) {
    const old = await listTasksWithOldLogs(ctx.db, { before, limit: MAX_TASKS_PER_BATCH })
    const projectId = old[0]?.project_id
    if (projectId === undefined) return batches
    const ids = old.filter((task) => task.project_id === projectId).map(({ id }) => id)
    await inTx(ctx, (tx) => pruneBatch(tx, projectId, ids, before))
    // Let other requests run.
    await setImmediate()
  }
  return MAX_BATCHES_PER_SWEEP
}

/** What a batch has removed so far. `budget` is how many events it may still remove. */
interface PruneBatch {
  budget: number
  tasks: string[]
  events: number
  files: number
  bytes: number
}

async function pruneBatch(tx: Tx, projectId: string, ids: readonly string[], before: string): Promise<void> {
  const batch: PruneBatch = { budget: MAX_EVENTS_PER_BATCH, tasks: [], events: 0, files: 0, bytes: 0 }
  for (const id of ids) {
    if (batch.budget <= 0) break
    const [task] = await lockTask(tx.db, { id })
    // Another replica has already pruned this log.
    if (!task || task.log_pruned_at !== null) continue
    batch.tasks.push(id)
    await deleteTranscript(tx.db, { task_id: id })
    await deleteEffectResults(tx.db, { task_id: id })
    await pruneFiles(tx, id, batch)
    await pruneEvents(tx, id, batch)
  }
  if (batch.tasks.length === 0) return
  const { tasks, events, files, bytes } = batch
  countStoredBytes(tx, projectId, -bytes)
  const data = { tasks, events, files, finished_before: before }
  await appendAuditEntry(tx, projectId, SYSTEM_ACTOR, 'log.pruned', projectId, data)
}

async function pruneFiles(tx: Tx, taskId: string, batch: PruneBatch): Promise<void> {
  for (const artifact of await listArtifactFiles(tx.db, { task_id: taskId })) {
    if (batch.budget <= 0) return
    await deleteArtifactWithFile(tx.db, artifact)
    if (artifact.storage === 's3') await removeArtifactObject(tx, artifact)
    batch.bytes += artifact.bytes
    batch.budget -= Math.ceil(artifact.size / BYTES_PER_EVENT)
    batch.files++
  }
}

/** Removes the log from its first event up to `task.finished`. A log longer than a batch takes several batches. */
async function pruneEvents(tx: Tx, taskId: string, batch: PruneBatch): Promise<void> {
  if (batch.budget <= 0) return
  const [first] = await findFirstEventNumber(tx.db, { task_id: taskId })
  const [last] = await findFinishedEventNumber(tx.db, { task_id: taskId })
  if (first && last) {
    const seq = Math.min(last.seq, first.seq + batch.budget)
    const [removed] = await sumEventBytesBefore(tx.db, { task_id: taskId, seq })
    await deleteEventsBefore(tx.db, { task_id: taskId, seq })
    batch.bytes += removed?.bytes ?? 0
    batch.budget -= seq - first.seq
    batch.events += seq - first.seq
    if (seq < last.seq) return
  }
  await updateTaskLogPruned(tx.db, { id: taskId, at: isoNow(tx) })
}
