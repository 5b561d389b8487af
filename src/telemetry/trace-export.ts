import type { Otlp } from '../config/otlp.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { every, type Loop } from '../ctx/loop.ts'
import { changeIn } from '../events/changes.ts'
import { foldTrace } from '../reports/trace.ts'
import { eventsOfTrace } from '../reports/trace-events.ts'
import { taskRow } from '../tasks/rows.ts'
import { isTerminal } from '../tasks/status.ts'
import { exportRequest, type OtlpSpan } from './otlp.ts'
import { type Outcome, postTraces } from './otlp-post.ts'
import { otlpSpans } from './otlp-spans.ts'

const ROUND_MS = 5_000
const TASKS_TOGETHER = 16
/** Only their ids wait; the logs are read when they are sent. */
const MOST_WAITING = 10_000
const TIMEOUT_MS = 10_000
const LAST_TIMEOUT_MS = 2_000
/** How long to wait after each attempt that failed; after the last of all, the batch is dropped. */
export const BACKOFF_MS = [5, 10, 20, 40, 60, 60, 60].map((seconds) => seconds * 1_000)

interface Waiting {
  taskIds: string[]
  failures: number
  notBefore: number
}

/**
 * Sends the tasks that ended on this replica as traces, in passing. Best effort by choice: a task does not wait for
 * its trace, and one that ends while the process dies is told by `GET /v1/tasks/:id/trace` only.
 */
export function traceExport(ctx: Ctx, otlp: Otlp, version: string): Loop {
  const waiting: Waiting = { taskIds: [], failures: 0, notBefore: 0 }
  const send = (timeoutMs: number) => sendBatch(ctx, otlp, version, waiting, timeoutMs)
  const failed = (err: unknown) => ctx.world.log.error({ err }, 'traces failed')
  const loop = every(ctx.world.clock, ROUND_MS, () => sendAll(ctx, waiting, send), failed)
  let unhear: (() => void) | undefined
  return {
    start() {
      unhear = ctx.bells.on('moved', (topic) => noteEnd(ctx, waiting, topic))
      loop.start()
    },
    async stop() {
      unhear?.()
      await loop.stop()
      // What ended during the drain gets one chance; a collector that is away must not hold up the stop.
      while (waiting.taskIds.length > 0 && (await send(LAST_TIMEOUT_MS)) === 'sent');
      drop(ctx, waiting, waiting.taskIds.length, 'the service stops')
    },
  }
}

function noteEnd(ctx: Ctx, { taskIds }: Waiting, topic: string): void {
  const change = changeIn(topic)
  if (change?.kind !== 'task' || !isTerminal(change.status)) return
  if (taskIds.length < MOST_WAITING) taskIds.push(change.id)
  else ctx.counts.traces.dropped++
}

async function sendAll(ctx: Ctx, waiting: Waiting, send: (timeoutMs: number) => Promise<Outcome>): Promise<void> {
  while (waiting.taskIds.length > 0 && ctx.world.clock.now() >= waiting.notBefore) {
    if ((await send(TIMEOUT_MS)) === 'later') return
  }
}

async function sendBatch(ctx: Ctx, otlp: Otlp, version: string, waiting: Waiting, timeoutMs: number): Promise<Outcome> {
  // Others are only ever added behind these.
  const ids = waiting.taskIds.slice(0, TASKS_TOGETHER)
  const outcome = await attempt(ctx, otlp, version, ids, timeoutMs)
  if (outcome === 'later') retryLater(ctx, waiting, ids.length)
  else waiting.failures = 0
  if (outcome === 'refused') drop(ctx, waiting, ids.length, 'the collector refused them')
  if (outcome === 'sent') ctx.counts.traces.sent += waiting.taskIds.splice(0, ids.length).length
  return outcome
}

async function attempt(ctx: Ctx, otlp: Otlp, version: string, ids: string[], timeoutMs: number): Promise<Outcome> {
  try {
    const spans: OtlpSpan[] = []
    for (const id of ids) spans.push(...(await spansOf(ctx, id)))
    return await postTraces(ctx, otlp.url, exportRequest(otlp, { version, replica: ctx.replica }, spans), timeoutMs)
  } catch (err) {
    ctx.world.log.warn({ err }, 'traces could not be read')
    return 'later'
  }
}

async function spansOf(ctx: Ctx, taskId: string): Promise<OtlpSpan[]> {
  const task = await taskRow(ctx.db, taskId)
  return task ? otlpSpans(task, foldTrace(taskId, await eventsOfTrace(ctx, taskId))) : []
}

function retryLater(ctx: Ctx, waiting: Waiting, batch: number): void {
  const pause = BACKOFF_MS[waiting.failures]
  waiting.failures++
  if (pause !== undefined) {
    waiting.notBefore = ctx.world.clock.now() + pause
    return
  }
  waiting.failures = 0
  drop(ctx, waiting, batch, 'the collector was away for too long')
}

function drop(ctx: Ctx, { taskIds }: Waiting, count: number, why: string): void {
  const dropped = taskIds.splice(0, count).length
  if (dropped === 0) return
  ctx.counts.traces.dropped += dropped
  ctx.world.log.warn({ traces: dropped }, `traces dropped: ${why}`)
}
