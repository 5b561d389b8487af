import { doublingWaits, waitAfter } from '../../platform/base/backoff.ts'
import { parseTraceparent } from '../../platform/base/trace-context.ts'
import type { OtlpConfig } from '../../platform/config/otlp-config.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { ProjectChange } from '../../platform/ctx/topics.ts'
import { createLoop, type Loop } from '../../platform/ctx/loop.ts'
import { buildTrace } from '../traces/trace.ts'
import { readTraceEvents } from '../traces/trace-events.ts'
import { findTaskUnscoped } from '../../work/tasks/rows.ts'
import { isTerminalStatus } from '../../work/tasks/status.ts'
import { toOtlpRequest, type OtlpSpan } from './otlp-format.ts'
import { type TracePostOutcome, postTraces } from './post-traces.ts'
import { toOtlpSpans } from './otlp-spans.ts'

const ROUND_MS = 5_000
const BATCH_TASKS = 16
/** Only task ids are queued; their logs are read when they are sent. */
const MAX_PENDING_TASKS = 10_000
const TIMEOUT_MS = 10_000
const STOP_TIMEOUT_MS = 2_000
/** The delay after each failed attempt; after the last one, the batch is dropped. */
export const TRACE_RETRY_DELAYS_MS = doublingWaits(7, 5_000, 60_000)

interface PendingTraces {
  taskIds: string[]
  failures: number
  notBefore: number
}

/**
 * Sends traces of tasks that ended on this replica. Delivery is best effort: a task does not wait for its trace, and a
 * trace that is queued when the process dies is available only from `GET /v1/tasks/:id/trace`.
 */
export function createTraceExport(ctx: Ctx, otlp: OtlpConfig, version: string): Loop {
  const waiting: PendingTraces = { taskIds: [], failures: 0, notBefore: 0 }
  const send = (timeoutMs: number) => sendBatch(ctx, otlp, version, waiting, timeoutMs)
  const failed = (err: unknown) => ctx.world.log.error({ err }, 'traces failed')
  const loop = createLoop(ctx.world.clock, ROUND_MS, () => sendPending(ctx, waiting, send), failed)
  let unsubscribe: (() => void) | undefined
  return {
    start() {
      unsubscribe = ctx.changeHints.subscribe({ topic: 'status-changed' }, ({ change }) =>
        queueEndedTask(ctx, waiting, change),
      )
      loop.start()
    },
    async stop() {
      unsubscribe?.()
      await loop.stop()
      // Tasks that ended during the drain are tried once; an unavailable collector must not delay the stop.
      while (waiting.taskIds.length > 0 && (await send(STOP_TIMEOUT_MS)) === 'sent');
      dropPending(ctx, waiting, waiting.taskIds.length, 'the service is stopping')
    },
  }
}

function queueEndedTask(ctx: Ctx, { taskIds }: PendingTraces, change: ProjectChange): void {
  if (change.kind !== 'task' || !isTerminalStatus(change.status)) return
  if (taskIds.length < MAX_PENDING_TASKS) taskIds.push(change.id)
  else ctx.counts.traces.dropped++
}

async function sendPending(
  ctx: Ctx,
  waiting: PendingTraces,
  send: (timeoutMs: number) => Promise<TracePostOutcome>,
): Promise<void> {
  while (waiting.taskIds.length > 0 && ctx.world.clock.now() >= waiting.notBefore) {
    if ((await send(TIMEOUT_MS)) === 'later') return
  }
}

async function sendBatch(
  ctx: Ctx,
  otlp: OtlpConfig,
  version: string,
  waiting: PendingTraces,
  timeoutMs: number,
): Promise<TracePostOutcome> {
  // New ids are only appended, so the batch stays at the front while it is sent.
  const ids = waiting.taskIds.slice(0, BATCH_TASKS)
  const { outcome, sent } = await readAndPost(ctx, otlp, version, ids, timeoutMs)
  if (outcome === 'later') retryLater(ctx, waiting, ids.length)
  else waiting.failures = 0
  if (outcome === 'refused') dropPending(ctx, waiting, ids.length, 'the collector refused them')
  if (outcome === 'sent') {
    waiting.taskIds.splice(0, ids.length)
    ctx.counts.traces.sent += sent
  }
  return outcome
}

async function readAndPost(
  ctx: Ctx,
  otlp: OtlpConfig,
  version: string,
  ids: string[],
  timeoutMs: number,
): Promise<{ outcome: TracePostOutcome; sent: number }> {
  try {
    const traces: OtlpSpan[][] = []
    for (const id of ids) traces.push(await readSpans(ctx, otlp, id))
    const sent = traces.filter((spans) => spans.length > 0).length
    if (sent === 0) return { outcome: 'sent', sent }
    const request = toOtlpRequest(otlp, { version, replica: ctx.replica }, traces.flat())
    return { outcome: await postTraces(ctx, otlp.url, request, timeoutMs), sent }
  } catch (err) {
    ctx.world.log.warn({ err }, 'traces could not be read')
    return { outcome: 'later', sent: 0 }
  }
}

/** No spans if the caller does not record its trace. */
async function readSpans(ctx: Ctx, { followsCaller }: OtlpConfig, taskId: string): Promise<OtlpSpan[]> {
  const task = await findTaskUnscoped(ctx.db, taskId)
  if (!task) return []
  const caller = task.traceparent === null ? null : parseTraceparent(task.traceparent)
  if (followsCaller && caller?.isSampled === false) return []
  return toOtlpSpans(task, buildTrace(taskId, await readTraceEvents(ctx, taskId)))
}

function retryLater(ctx: Ctx, waiting: PendingTraces, batch: number): void {
  waiting.failures++
  const pause = waitAfter(TRACE_RETRY_DELAYS_MS, waiting.failures)
  if (pause !== null) {
    waiting.notBefore = ctx.world.clock.now() + pause
    return
  }
  waiting.failures = 0
  dropPending(ctx, waiting, batch, 'the collector was unavailable for too long')
}

function dropPending(ctx: Ctx, { taskIds }: PendingTraces, count: number, why: string): void {
  const dropped = taskIds.splice(0, count).length
  if (dropped === 0) return
  ctx.counts.traces.dropped += dropped
  ctx.world.log.warn({ traces: dropped }, `traces dropped: ${why}`)
}
