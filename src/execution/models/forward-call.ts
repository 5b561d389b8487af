import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import type { Writable } from 'node:stream'
import type { JsonObject } from '../../platform/base/json.ts'
import type { Problem } from '../../platform/base/problem.ts'
import type {
  ModelMessage,
  ReplyDetails,
  StreamedReply,
  TokenUsage,
} from '../../platform/contract/providers/provider-format.ts'
import { type ModelApi, PROVIDER_FORMATS } from '../../platform/contract/providers/provider-formats.ts'
import { type Ctx, inDurableTx } from '../../platform/ctx/ctx.ts'
import { RunEndedError } from '../../work/events/append-events.ts'
import { HttpResponse, disconnectSignal, StreamResponse } from '../../platform/http/route.ts'
import { chargeTask, type ModelCharge } from '../../work/tasks/charge-task.ts'
import { estimateUsage, releaseCost, reserveCost, type CostReservation } from './cost-ceiling.ts'
import { providerKey, toProviderRequest } from './provider-request.ts'
import type { ModelChoice } from './choose-model.ts'
import { costInMicros, countInputTokens, type PricedModel, priceOfModel } from './model-prices.ts'
import { recordRehearsal } from './rehearsal/record-rehearsal.ts'
import { playModelRehearsal } from './rehearsal/play-rehearsal.ts'
import { droppedFieldsHeader, toModelRequest } from './model-request.ts'
import { chooseShownFiles, createFileText, readRequestFiles } from './shown-files.ts'
import { setModelFailure, type ModelRun } from './model-run.ts'
import { refuseFields } from './refuse-fields.ts'
import { createResponseReader, describeStreamProblem, parseAnswer, readWholeResponse } from './read-response.ts'
import { callProviderWithRetry, ModelUnavailable } from './retry.ts'
import { switchModel } from './switch-model.ts'
import type { ProviderResponse } from './provider-call.ts'

/** A model call in progress. */
interface ModelCall {
  run: ModelRun
  model: ModelChoice
  api: ModelApi
  body: JsonObject
  reserved: CostReservation
  price: PricedModel
  streams: boolean
  startedAt: number
  headers: Record<string, string>
}

/** Answers a model call of the sandbox: with the rehearsal, or by the provider within the cost ceiling of the run. */
export async function forwardModelCall(
  ctx: Ctx,
  run: ModelRun,
  api: ModelApi,
  requested: JsonObject,
  headers: IncomingHttpHeaders,
): Promise<HttpResponse | StreamResponse<Writable>> {
  refuseFields(api, requested)
  const body = run.outputItems.putBack(requested)
  run.toolLog?.recordResults(PROVIDER_FORMATS[api].listToolResults(body))
  if (run.model.provider === 'rehearsal') return playModelRehearsal(run, api, body)
  for (;;) {
    const { model } = run
    try {
      return await forwardToModel(ctx, run, model, api, body, headers)
    } catch (error) {
      if (!(error instanceof ModelUnavailable)) throw error
      if (!(await switchModel(ctx, run, model))) throw error.problem
    }
  }
}

async function forwardToModel(
  ctx: Ctx,
  run: ModelRun,
  model: ModelChoice,
  api: ModelApi,
  requested: JsonObject,
  headers: IncomingHttpHeaders,
): Promise<HttpResponse | StreamResponse<Writable>> {
  const startedAt = ctx.world.clock.now()
  const request = toModelRequest(model.name, api, requested, ctx.config.modelMaxTokens)
  const price = priceOfModel(model, ctx.config.modelPrices)
  const shown = chooseShownFiles(run, price, request, await readRequestFiles(ctx, run, request))
  const reserved = reserveCost(run, price, request, shown.tokens)
  const { body, streams } = request
  const dropped = droppedFieldsHeader(request)
  const call: ModelCall = { run, model, api, body, reserved, price, streams, startedAt, headers: dropped }
  try {
    const sent = createFileText(run, request, shown, reserved.text)
    const { provider, providerPath: path } = PROVIDER_FORMATS[api]
    const response = await callProviderWithRetry(
      ctx,
      run,
      model,
      () => toProviderRequest(ctx, { provider, path, streams, text: sent.text }, headers),
      () => sent.dropFiles(),
    )
    if (!streams) return await forwardWholeResponse(ctx, call, response)
    requireEventStream(ctx, call, response)
    const streamHeaders = { ...STREAM_HEADERS, ...call.headers }
    return new StreamResponse(streamHeaders, (out: Writable) => forwardStream(ctx, call, response, out))
  } catch (error) {
    releaseCost(run, reserved)
    throw error
  }
}

const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }

function requireEventStream(ctx: Ctx, call: ModelCall, response: ProviderResponse): void {
  if (response.contentType.startsWith('text/event-stream')) return
  response.abort()
  throw recordFailedResponse(ctx, call, 'did not answer with an event stream')
}

/** `what` is the end of a sentence that begins with the provider. */
function recordFailedResponse(
  { world, counts }: Ctx,
  { run, model: { provider, name } }: ModelCall,
  what: string,
): Problem {
  counts.modelFailures.at({ model: name, reason: 'incomplete' }).attempts++
  world.log.warn({ task: run.taskId, provider, model: name }, `model failed: ${provider} ${what}`)
  return setModelFailure(run, `${provider} ${what}`)
}

/**
 * Forwards the stream as it arrives. Everything from the chunk that ends the reply is held back until the charge is
 * stored: the agent may end the task as soon as it has the whole reply, and a finished task cannot be charged.
 */
async function forwardStream(ctx: Ctx, call: ModelCall, response: ProviderResponse, out: Writable): Promise<void> {
  const { run, api } = call
  const ended = AbortSignal.any([run.over.signal, disconnectSignal(out)])
  const { reply, read } = createResponseReader(api)
  let breakReason: string | null = null
  ended.addEventListener('abort', response.abort, { once: true })
  const heldBack: Buffer[] = []
  try {
    for await (const chunk of response.chunks) {
      read(chunk)
      if (reply.stop !== null || reply.isDone) heldBack.push(chunk)
      else await writeChunk(out, chunk, ended)
      if (reply.isDone || ended.aborted) break
    }
  } catch {
    if (reply.stop === null && !ended.aborted && !out.destroyed) breakReason = response.describeBreak()
  }
  ended.removeEventListener('abort', response.abort)
  if (reply.isDone) response.release()
  else response.abort()
  // The end of a run closes the connection too; that is not a disconnect by the agent.
  const hasAgentDisconnected = out.destroyed && !run.over.isAborted
  await chargeUsage(ctx, call, usageToCharge(call, reply, hasAgentDisconnected), reply)
  const failure = reply.problem ? describeStreamProblem(reply.problem, providerKey(ctx, call.model.wire)) : breakReason
  recordStreamOutcome(ctx, call, reply, failure, ended.aborted || out.destroyed)
  if (reply.stop !== null) await recordReply(ctx, call, reply)
  endStream(out, reply, heldBack)
}

async function writeChunk(out: Writable, chunk: Buffer, over: AbortSignal): Promise<void> {
  if (over.aborted || out.destroyed) return
  if (!out.write(chunk)) await once(out, 'drain', { signal: over })
}

/** An incomplete reply is cut off for the agent too: a regular end would look like a complete reply. */
function endStream(out: Writable, { stop }: StreamedReply, heldBack: Buffer[]): void {
  if (stop === null) out.destroy()
  else out.end(Buffer.concat(heldBack))
}

async function forwardWholeResponse(ctx: Ctx, call: ModelCall, response: ProviderResponse): Promise<HttpResponse> {
  const { run, api } = call
  const { content, breakReason } = await readWholeResponse(response)
  const body = breakReason === null ? parseAnswer(content) : null
  const reply = body && PROVIDER_FORMATS[api].parseResponse(body)
  await chargeUsage(ctx, call, reply?.usage ?? estimateUsage(call.reserved.text, content.length), reply)
  if (run.over.isAborted) throw new RunEndedError()
  if (!reply) throw recordFailedResponse(ctx, call, breakReason ?? 'did not answer with json')
  run.failure = null
  await recordReply(ctx, call, reply)
  return new HttpResponse(200, content, { 'content-type': 'application/json; charset=utf-8', ...call.headers })
}

/** What later calls, the log and the recorder need of a complete reply. */
async function recordReply(ctx: Ctx, { run, api, body }: ModelCall, reply: ModelMessage): Promise<void> {
  run.outputItems.keep(reply.items ?? [])
  run.toolLog?.recordCalls(reply.calls)
  if (ctx.config.recordRehearsal) await recordRehearsal(ctx, run, api, body, reply)
}

/**
 * The final counts of the provider; without them, at least an estimate of the forwarded text. An agent that
 * disconnects before the end is charged for the whole answer it had reserved: the model may have used reasoning tokens that were not streamed, and
 * disconnecting must not make a call cheaper.
 */
function usageToCharge({ reserved }: ModelCall, reply: StreamedReply, hasAgentDisconnected: boolean): TokenUsage {
  const minimum = hasAgentDisconnected ? reserved.worstCase : estimateUsage(reserved.text, reply.outputChars)
  if (!reply.usage) return minimum
  const isFinal = reply.isUsageFinal && (reply.stop !== null || !hasAgentDisconnected)
  return isFinal ? reply.usage : { ...reply.usage, output: Math.max(reply.usage.output, minimum.output) }
}

/** Turns the reserved cost into spent cost, in memory and in the task's events. */
async function chargeUsage(ctx: Ctx, call: ModelCall, usage: TokenUsage, reply: ReplyDetails | null): Promise<void> {
  const { run, reserved, price } = call
  const micros = costInMicros(price, usage)
  run.spentMicros += micros
  const charge = toModelCharge(call, usage, price.priced ? micros : 0, reply)
  const duration_ms = Math.max(0, ctx.world.clock.now() - call.startedAt)
  try {
    await inDurableTx(ctx, (tx) => chargeTask(tx, run, { ...charge, duration_ms }))
  } catch (error) {
    if (!(error instanceof RunEndedError)) throw error
  } finally {
    // After the charge is stored: the end of the run waits until nothing is reserved.
    releaseCost(run, reserved)
  }
}

function toModelCharge(
  { model, price, streams }: ModelCall,
  usage: TokenUsage,
  micros: number,
  reply: ReplyDetails | null,
): Omit<ModelCharge, 'duration_ms'> {
  return {
    provider: model.provider,
    model: model.name,
    ...(reply?.model != null && { response_model: reply.model }),
    ...(reply?.finishReason != null && { finish_reason: reply.finishReason }),
    streamed: streams,
    input_tokens: countInputTokens(usage),
    cache_read_tokens: usage.cacheRead,
    cache_write_tokens: usage.cacheWrite + usage.cacheWriteLong,
    output_tokens: usage.output,
    micros,
    unpriced: !price.priced,
  }
}

/** The status 200 was sent long before a stream fails, so the failure is noted in the run. */
function recordStreamOutcome(
  ctx: Ctx,
  call: ModelCall,
  reply: StreamedReply,
  failure: string | null,
  isOver: boolean,
): void {
  const { run, reserved } = call
  run.failure = null
  if (failure !== null) recordFailedResponse(ctx, call, failure)
  else if (reply.stop === null && !isOver) recordFailedResponse(ctx, call, 'ended its answer early')
  else if (reply.stop === 'refusal') setModelFailure(run, 'the model refused to answer')
  else if (reply.stop === 'length') recordTruncatedAnswer(run, reserved)
}

function recordTruncatedAnswer(run: ModelRun, { isAnswerShortened }: CostReservation): void {
  if (isAnswerShortened)
    run.failure = { reason: 'cost_exceeded', message: 'cost ceiling reached: the answer was cut off by it' }
  else setModelFailure(run, 'the answer was cut off at its length limit')
}
