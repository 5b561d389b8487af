import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import type { Writable } from 'node:stream'
import { tryParseJsonObject } from '../base/json-fields.ts'
import type { JsonObject } from '../base/json.ts'
import { notFound } from '../base/problem.ts'
import type { ModelProvider } from '../contract/agent-protocol.ts'
import { type Ctx, inDurableTx } from '../ctx/ctx.ts'
import { RunEndedError } from '../events/append-events.ts'
import { HttpResponse, disconnectSignal, StreamResponse } from '../http/route.ts'
import { chargeTask } from '../tasks/charge-task.ts'
import { estimateUsage, releaseCost, reserveCost, type CostReservation } from './cost-ceiling.ts'
import { type MeteredResponse, createUsageMeter, usageOfResponse } from './usage-meter.ts'
import { toProviderRequest } from './provider-request.ts'
import { costInMicros, countInputTokens, type ModelPrice, priceOfModel, type TokenUsage } from './model-prices.ts'
import { recordRehearsal } from './record-rehearsal.ts'
import { playModelRehearsal } from './play-rehearsal.ts'
import { toModelRequest } from './model-request.ts'
import { noteModelFailure, type ModelRun } from './model-run.ts'
import { createTurnAssembler, messageOfResponse, turnOfMessage } from './read-response.ts'
import { callProviderWithRetry } from './retry.ts'
import type { ProviderResponse } from './provider-call.ts'

/** A call that is under way. */
interface ModelCall {
  run: ModelRun
  wire: ModelProvider
  body: JsonObject
  reserved: CostReservation
  rate: ModelPrice & { priced: boolean }
}

/** Answers a model call of the sandbox: by the rehearsal, or by the provider under the run's ceiling. */
export async function forwardModelCall(
  ctx: Ctx,
  run: ModelRun,
  wire: ModelProvider,
  path: string,
  body: JsonObject,
  headers: IncomingHttpHeaders,
): Promise<HttpResponse | StreamResponse<Writable>> {
  requireModelRoute(run, wire, path)
  if (run.model.provider === 'rehearsal') return playModelRehearsal(run, wire, body)
  const request = toModelRequest(run, wire, body)
  const rate = priceOfModel(run.model.name)
  const reserved = reserveCost(run, rate, request)
  const call: ModelCall = { run, wire, body: request.body, reserved, rate }
  try {
    const upstream = await callProviderWithRetry(ctx, run, () =>
      toProviderRequest(ctx, wire, request.streams, reserved.text, headers),
    )
    if (!request.streams) return await forwardWholeResponse(ctx, call, upstream)
    requireEventStream(run, upstream)
    return new StreamResponse(STREAM_HEADERS, (out: Writable) => forwardStream(ctx, call, upstream, out))
  } catch (error) {
    releaseCost(run, reserved)
    throw error
  }
}

const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }

const PROVIDER_PATHS: Record<ModelProvider, readonly string[]> = {
  anthropic: ['v1/messages'],
  // Clients of this wire count the version as a part of the base address or do not.
  openai: ['v1/chat/completions', 'chat/completions'],
}

function requireModelRoute(run: ModelRun, wire: ModelProvider, path: string): void {
  const spoken = run.model.provider === 'rehearsal' || run.model.wire === wire
  if (!spoken || !PROVIDER_PATHS[wire].includes(path.replace(/^\//, ''))) throw notFound('model route')
}

function requireEventStream(run: ModelRun, upstream: ProviderResponse): void {
  if (upstream.contentType.startsWith('text/event-stream')) return
  upstream.abort()
  throw noteModelFailure(run, `${run.model.provider} did not answer with an event stream`)
}

/**
 * Hands the stream on as it comes. What comes from the model's last word on is held back until the charge is stored:
 * the agent would end the task on it, and a task that has ended cannot be charged any more.
 */
async function forwardStream(ctx: Ctx, call: ModelCall, upstream: ProviderResponse, out: Writable): Promise<void> {
  const { run, wire } = call
  const gone = AbortSignal.any([run.over.signal, disconnectSignal(out)])
  const recorder = ctx.config.recordRehearsal ? createTurnAssembler(wire) : null
  const { metered: heard, read: hear } = createUsageMeter(wire, recorder?.add)
  gone.addEventListener('abort', upstream.abort, { once: true })
  const last: Buffer[] = []
  try {
    for await (const chunk of upstream.chunks) {
      hear(chunk)
      if (heard.stopReason !== null || heard.isDone) last.push(chunk)
      else await writeChunk(out, chunk, gone)
      if (heard.isDone || gone.aborted) break
    }
  } catch {
    if (heard.stopReason === null && !gone.aborted && !out.destroyed) heard.failure ??= upstream.describeBreak()
  }
  gone.removeEventListener('abort', upstream.abort)
  if (heard.isDone) upstream.release()
  else upstream.abort()
  // A run that is over takes its agent with it.
  const left = out.destroyed && !run.over.isAborted
  await chargeUsage(ctx, call, usageToCharge(call, heard, left))
  noteStreamOutcome(call, heard, gone.aborted || out.destroyed)
  if (recorder && heard.stopReason !== null) await recordRehearsal(ctx, run, wire, call.body, recorder.turn())
  endStream(out, heard, last)
}

async function writeChunk(out: Writable, chunk: Buffer, over: AbortSignal): Promise<void> {
  if (over.aborted || out.destroyed) return
  if (!out.write(chunk)) await once(out, 'drain', { signal: over })
}

/** A stream that was cut is cut for the caller too: a tidy end would pass for a whole answer. */
function endStream(out: Writable, heard: MeteredResponse, last: Buffer[]): void {
  if (heard.stopReason === null) out.destroy()
  else out.end(Buffer.concat(last))
}

async function forwardWholeResponse(ctx: Ctx, call: ModelCall, upstream: ProviderResponse): Promise<HttpResponse> {
  const { run, wire } = call
  const { content, broken } = await readWholeResponse(upstream)
  const answer = broken === null ? tryParseJsonObject(content.toString()) : null
  await chargeUsage(
    ctx,
    call,
    (answer && usageOfResponse(wire, answer)) ?? estimateUsage(call.reserved.text, content.length),
  )
  if (run.over.isAborted) throw new RunEndedError()
  if (!answer) throw noteModelFailure(run, `${run.model.provider} ${broken ?? 'did not answer with json'}`)
  run.failure = null
  if (ctx.config.recordRehearsal) {
    await recordRehearsal(ctx, run, wire, call.body, turnOfMessage(wire, messageOfResponse(wire, answer)))
  }
  return new HttpResponse(200, content, { 'content-type': 'application/json; charset=utf-8' })
}

async function readWholeResponse(upstream: ProviderResponse): Promise<{ content: Buffer; broken: string | null }> {
  const chunks: Buffer[] = []
  let broken: string | null = null
  try {
    for await (const chunk of upstream.chunks) chunks.push(chunk)
  } catch {
    broken = upstream.describeBreak()
    upstream.abort()
  }
  return { content: Buffer.concat(chunks), broken }
}

/**
 * The provider's figures; without its last word, at least what went past. An agent that leaves before that word is
 * charged for all the room that the answer had: a model thinks unseen, and hanging up must not make it cheaper.
 */
function usageToCharge({ reserved }: ModelCall, heard: MeteredResponse, left: boolean): TokenUsage {
  const least = left ? reserved.worstCase : estimateUsage(reserved.text, heard.answerChars)
  if (!heard.usage) return least
  const last = heard.isUsageFinal && (heard.stopReason !== null || !left)
  return last ? heard.usage : { ...heard.usage, output: Math.max(heard.usage.output, least.output) }
}

/** The money that was set aside becomes the money that was spent, in memory and in the task's log. */
async function chargeUsage(ctx: Ctx, { run, reserved, rate }: ModelCall, usage: TokenUsage): Promise<void> {
  const micros = costInMicros(rate, usage)
  run.spentMicros += micros
  const cost = {
    model: run.model.name,
    input_tokens: countInputTokens(usage),
    output_tokens: usage.output,
    micros: rate.priced ? micros : 0,
    unpriced: !rate.priced,
  }
  try {
    await inDurableTx(ctx, (tx) => chargeTask(tx, run, cost))
  } catch (error) {
    if (!(error instanceof RunEndedError)) throw error
  } finally {
    // Only now: whoever waits for the run to be idle waits for the charge.
    releaseCost(run, reserved)
  }
}

/** A stream has answered 200 long before it fails, so its failure is told to the run and not by a status. */
function noteStreamOutcome({ run, reserved }: ModelCall, heard: MeteredResponse, over: boolean): void {
  const { provider } = run.model
  run.failure = null
  if (heard.failure !== null) noteModelFailure(run, `${provider} ${heard.failure}`)
  else if (heard.stopReason === null && !over) noteModelFailure(run, `${provider} cut its answer off`)
  else if (heard.stopReason === 'refusal' || heard.stopReason === 'content_filter')
    noteModelFailure(run, 'the model refused to answer')
  else if (heard.stopReason === 'max_tokens' || heard.stopReason === 'length') noteTruncatedAnswer(run, reserved)
}

function noteTruncatedAnswer(run: ModelRun, { isAnswerShortened: lowered }: CostReservation): void {
  if (lowered) run.failure = { reason: 'cost_exceeded', message: 'cost ceiling reached: the answer was cut off by it' }
  else noteModelFailure(run, 'the answer was cut off at its length limit')
}
