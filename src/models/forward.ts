import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import type { Writable } from 'node:stream'
import { objectIn } from '../base/fields.ts'
import type { JsonObject } from '../base/json.ts'
import { notFound } from '../base/problem.ts'
import type { Wire } from '../base/protocol.ts'
import { type Ctx, inTxAtLast } from '../ctx/ctx.ts'
import { RunOver } from '../events/append.ts'
import { Answer, goneSignal, StreamAnswer } from '../http/route.ts'
import { charge } from '../tasks/charge.ts'
import { likelyUsage, release, reserve, type Reserved } from './ceiling.ts'
import { type Heard, meter, wholeUsage } from './meter.ts'
import { outgoingFor } from './outgoing.ts'
import { costOf, inputTokens, type Rate, rateOf, type Usage } from './rates.ts'
import { recordRehearsal } from './record.ts'
import { rehearse } from './rehearsal.ts'
import { requestFor } from './request.ts'
import { modelFailed, type ModelRun } from './run.ts'
import { listener, messageOf, saidIn } from './said.ts'
import { openUpstream } from './tries.ts'
import type { Upstream } from './upstream.ts'

/** A call that is under way. */
interface Call {
  run: ModelRun
  wire: Wire
  body: JsonObject
  reserved: Reserved
  rate: Rate & { priced: boolean }
}

/** Answers a model call of the sandbox: by the rehearsal, or by the provider under the run's ceiling. */
export async function forwardModelCall(
  ctx: Ctx,
  run: ModelRun,
  wire: Wire,
  path: string,
  body: JsonObject,
  headers: IncomingHttpHeaders,
): Promise<Answer | StreamAnswer<Writable>> {
  refuseOtherRoutes(run, wire, path)
  if (run.model.provider === 'rehearsal') return rehearse(run, wire, body)
  const request = requestFor(run, wire, body)
  const rate = rateOf(run.model.name)
  const reserved = reserve(run, rate, request)
  const call: Call = { run, wire, body: request.body, reserved, rate }
  try {
    const upstream = await openUpstream(ctx, run, () => outgoingFor(ctx, wire, request.streams, reserved.text, headers))
    if (!request.streams) return await wholeAnswer(ctx, call, upstream)
    refuseOtherContent(run, upstream)
    return new StreamAnswer(STREAM_HEADERS, (out: Writable) => passOn(ctx, call, upstream, out))
  } catch (error) {
    release(run, reserved)
    throw error
  }
}

const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }

const PATHS: Record<Wire, readonly string[]> = {
  anthropic: ['v1/messages'],
  // Clients of this wire count the version as a part of the base address or do not.
  openai: ['v1/chat/completions', 'chat/completions'],
}

function refuseOtherRoutes(run: ModelRun, wire: Wire, path: string): void {
  const spoken = run.model.provider === 'rehearsal' || run.model.wire === wire
  if (!spoken || !PATHS[wire].includes(path.replace(/^\//, ''))) throw notFound('model route')
}

function refuseOtherContent(run: ModelRun, upstream: Upstream): void {
  if (upstream.contentType.startsWith('text/event-stream')) return
  upstream.cut()
  throw modelFailed(run, `${run.model.provider} did not answer with an event stream`)
}

/**
 * Hands the stream on as it comes. What comes from the model's last word on is held back until the charge is stored:
 * the agent would end the task on it, and a task that has ended cannot be charged any more.
 */
async function passOn(ctx: Ctx, call: Call, upstream: Upstream, out: Writable): Promise<void> {
  const { run, wire } = call
  const gone = AbortSignal.any([run.over.signal, goneSignal(out)])
  const recorder = ctx.config.recordRehearsal ? listener(wire) : null
  const { heard, hear } = meter(wire, recorder?.hear)
  gone.addEventListener('abort', upstream.cut, { once: true })
  const last: Buffer[] = []
  try {
    for await (const chunk of upstream.chunks) {
      hear(chunk)
      if (heard.stop !== null || heard.done) last.push(chunk)
      else await write(out, chunk, gone)
      if (heard.done || gone.aborted) break
    }
  } catch {
    if (heard.stop === null && !gone.aborted && !out.destroyed) heard.broken ??= upstream.end()
  }
  gone.removeEventListener('abort', upstream.cut)
  if (heard.done) upstream.release()
  else upstream.cut()
  // A run that is over takes its agent with it.
  const left = out.destroyed && !run.over.isAborted
  await settle(ctx, call, usageOf(call, heard, left))
  noteOutcome(call, heard, gone.aborted || out.destroyed)
  if (recorder && heard.stop !== null) await recordRehearsal(ctx, run, wire, call.body, recorder.said())
  finish(out, heard, last)
}

async function write(out: Writable, chunk: Buffer, over: AbortSignal): Promise<void> {
  if (over.aborted || out.destroyed) return
  if (!out.write(chunk)) await once(out, 'drain', { signal: over })
}

/** A stream that was cut is cut for the caller too: a tidy end would pass for a whole answer. */
function finish(out: Writable, heard: Heard, last: Buffer[]): void {
  if (heard.stop === null) out.destroy()
  else out.end(Buffer.concat(last))
}

async function wholeAnswer(ctx: Ctx, call: Call, upstream: Upstream): Promise<Answer> {
  const { run, wire } = call
  const { content, broken } = await wholeContent(upstream)
  const answer = broken === null ? objectIn(content.toString()) : null
  await settle(ctx, call, (answer && wholeUsage(wire, answer)) ?? likelyUsage(call.reserved.text, content.length))
  if (run.over.isAborted) throw new RunOver()
  if (!answer) throw modelFailed(run, `${run.model.provider} ${broken ?? 'did not answer with json'}`)
  run.failure = null
  if (ctx.config.recordRehearsal) {
    await recordRehearsal(ctx, run, wire, call.body, saidIn(wire, messageOf(wire, answer)))
  }
  return new Answer(200, content, { 'content-type': 'application/json; charset=utf-8' })
}

async function wholeContent(upstream: Upstream): Promise<{ content: Buffer; broken: string | null }> {
  const chunks: Buffer[] = []
  let broken: string | null = null
  try {
    for await (const chunk of upstream.chunks) chunks.push(chunk)
  } catch {
    broken = upstream.end()
    upstream.cut()
  }
  return { content: Buffer.concat(chunks), broken }
}

/**
 * The provider's figures; without its last word, at least what went past. An agent that leaves before that word is
 * charged for all the room that the answer had: a model thinks unseen, and hanging up must not make it cheaper.
 */
function usageOf({ reserved }: Call, heard: Heard, left: boolean): Usage {
  const least = left ? reserved.worst : likelyUsage(reserved.text, heard.length)
  if (!heard.usage) return least
  const last = heard.final && (heard.stop !== null || !left)
  return last ? heard.usage : { ...heard.usage, output: Math.max(heard.usage.output, least.output) }
}

/** The money that was set aside becomes the money that was spent, in memory and in the task's log. */
async function settle(ctx: Ctx, { run, reserved, rate }: Call, usage: Usage): Promise<void> {
  const micros = costOf(rate, usage)
  run.spentMicros += micros
  const cost = {
    model: run.model.name,
    input_tokens: inputTokens(usage),
    output_tokens: usage.output,
    micros: rate.priced ? micros : 0,
    unpriced: !rate.priced,
  }
  try {
    await inTxAtLast(ctx, (tx) => charge(tx, run, cost))
  } catch (error) {
    if (!(error instanceof RunOver)) throw error
  } finally {
    // Only now: whoever waits for the run to be idle waits for the charge.
    release(run, reserved)
  }
}

/** A stream has answered 200 long before it fails, so its failure is told to the run and not by a status. */
function noteOutcome({ run, reserved }: Call, heard: Heard, over: boolean): void {
  const { provider } = run.model
  run.failure = null
  if (heard.broken !== null) modelFailed(run, `${provider} ${heard.broken}`)
  else if (heard.stop === null && !over) modelFailed(run, `${provider} cut its answer off`)
  else if (heard.stop === 'refusal' || heard.stop === 'content_filter') modelFailed(run, 'the model refused to answer')
  else if (heard.stop === 'max_tokens' || heard.stop === 'length') noteShortAnswer(run, reserved)
}

function noteShortAnswer(run: ModelRun, { lowered }: Reserved): void {
  if (lowered) run.failure = { reason: 'cost_exceeded', message: 'cost ceiling reached: the answer was cut off by it' }
  else modelFailed(run, 'the answer was cut off at its length limit')
}
