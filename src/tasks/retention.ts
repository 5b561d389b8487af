import { audit } from '../audit/append.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import { SYSTEM } from '../ctx/scope.ts'
import { isoNow, isoTime } from '../ctx/world.ts'
import { dropEventsBefore, firstNumber, lastNumber } from '../events/rows.ts'
import { dropFile, filesOf, markPruned, oldLogs } from './retention-rows.ts'
import { holdTask } from './state-rows.ts'

const DAY_MS = 24 * 60 * 60_000
/** What one transaction may remove, in events: nobody else waits longer than for a page of them. */
const MOST_EVENTS = 2_000
/** A file counts for as many events as take its room. */
const EVENT_BYTES = 16 * 1024
const MOST_TASKS = 100
/** What one round may do, so that a process that stops need not wait for the end of a long tail. */
const MOST_BATCHES = 10

/**
 * Removes logs and files of tasks that ended longer ago than the deployment keeps them, batch after batch, and answers
 * with how many. The row of the task stays, with its output, cost, approvals and effects, and so does the end of its
 * log: `task.finished` and the notes behind it. Safe for every replica to do at once.
 */
export async function pruneOldLogs(ctx: Ctx, days: number): Promise<number> {
  const before = isoTime(ctx.world.clock.now() - days * DAY_MS)
  for (let batches = 0; batches < MOST_BATCHES; batches++) {
    const old = await oldLogs(ctx.db, { before, limit: MOST_TASKS })
    const projectId = old[0]?.project_id
    if (projectId === undefined) return batches
    const ids = old.filter((task) => task.project_id === projectId).map(({ id }) => id)
    await inTx(ctx, (tx) => pruneBatch(tx, projectId, ids, before))
  }
  return MOST_BATCHES
}

/** What a batch has removed so far, and what it may still remove. */
interface Batch {
  room: number
  tasks: string[]
  events: number
  files: number
}

async function pruneBatch(tx: Tx, projectId: string, ids: readonly string[], before: string): Promise<void> {
  const batch: Batch = { room: MOST_EVENTS, tasks: [], events: 0, files: 0 }
  for (const id of ids) {
    if (batch.room <= 0) break
    const [task] = await holdTask(tx.db, { id })
    // Another replica was here first.
    if (!task || task.log_pruned_at !== null) continue
    batch.tasks.push(id)
    await pruneFiles(tx, id, batch)
    await pruneEvents(tx, id, batch)
  }
  if (batch.tasks.length === 0) return
  const { tasks, events, files } = batch
  await audit(tx, projectId, SYSTEM, 'log.pruned', projectId, { tasks, events, files, finished_before: before })
}

async function pruneFiles(tx: Tx, taskId: string, batch: Batch): Promise<void> {
  for (const { id, size } of await filesOf(tx.db, { task_id: taskId })) {
    if (batch.room <= 0) return
    await dropFile(tx.db, { id })
    batch.room -= Math.ceil(size / EVENT_BYTES)
    batch.files++
  }
}

/** From the beginning of the log up to its end, which stays. A log that is too long for one batch is done by many. */
async function pruneEvents(tx: Tx, taskId: string, batch: Batch): Promise<void> {
  if (batch.room <= 0) return
  const [first] = await firstNumber(tx.db, { task_id: taskId })
  const [last] = await lastNumber(tx.db, { task_id: taskId })
  if (first && last) {
    const seq = Math.min(last.seq, first.seq + batch.room)
    await dropEventsBefore(tx.db, { task_id: taskId, seq })
    batch.room -= seq - first.seq
    batch.events += seq - first.seq
    if (seq < last.seq) return
  }
  await markPruned(tx.db, { id: taskId, at: isoNow(tx) })
}
