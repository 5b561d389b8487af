import { conflict, Problem } from '../base/problem.ts'
import type { Tx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import type { Events } from '../store/tables.ts'
import { chunksOf } from './frames.ts'
import { insertEvents, takeNumberOfNote, takeNumbers } from './rows.ts'
import type { EventData, NewEvent } from './types.ts'

/** A run that lost its lease or has ended: whatever it still wants to say is too late. */
export class RunOver extends Problem {
  constructor() {
    super(409, 'this run is over')
  }
}

/** Appends to the log of a run, fenced by its epoch. */
export async function append(
  tx: Tx,
  run: { taskId: string; epoch: number },
  events: readonly NewEvent[],
): Promise<void> {
  const [head] = await takeNumbers(tx.db, { id: run.taskId, epoch: run.epoch, count: events.length })
  if (!head) throw new RunOver()
  await write(tx, run.taskId, head.last_event_id, events)
}

/** A note on a run, which may be over: the only event that can follow `task.finished`. */
export async function appendNote(tx: Tx, taskId: string, data: EventData['feedback.recorded']): Promise<void> {
  const [head] = await takeNumberOfNote(tx.db, { id: taskId })
  if (!head) throw conflict('task has not begun')
  await write(tx, taskId, head.last_event_id, [{ type: 'feedback.recorded', data }])
}

/** Writes events whose numbers, up to `last`, were taken with the change of status that they tell of. */
export async function write(tx: Tx, taskId: string, last: number, events: readonly NewEvent[]): Promise<void> {
  const ts = isoNow(tx)
  const first = last - events.length + 1
  const rows: Events[] = events.map(({ type, data }, i) => ({
    task_id: taskId,
    seq: first + i,
    type,
    ts,
    data: JSON.stringify(data),
  }))
  await insertEvents(tx.db, rows)
  tx.ring(`log:${taskId}`)
  tx.afterCommit(() => {
    tx.counts.events += rows.length
    if (tx.tails.followed(taskId)) tx.tails.publish(taskId, chunksOf(rows))
  })
}
