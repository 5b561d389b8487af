import type { JsonObject } from '../base/json.ts'
import type { Wire } from '../base/protocol.ts'
import { LARGEST_WINDOW, mediaTokens } from './media.ts'
import { costOf, type Rate, type Usage } from './rates.ts'
import type { ModelRequest } from './request.ts'
import { costExceeded, type ModelRun } from './run.ts'

/** A request that fits what the task may still spend, and the money set aside for it. */
export interface Reserved {
  text: string
  /** The most that the call can use, and what that costs. */
  worst: Usage
  micros: number
  /** The answer was given less room than was asked for. */
  lowered: boolean
}

/**
 * Sets the worst case aside before the call leaves, so that calls side by side cannot break the ceiling together. An
 * answer that might cost too much gets less room; when too little is left for any answer, the call is refused.
 */
export function reserve(run: ModelRun, rate: Rate & { priced: boolean }, request: ModelRequest): Reserved {
  let text = JSON.stringify(request.body)
  const input = worstInput(run.model.wire, request.body, text)
  const left = run.maxCostMicros - run.spentMicros - run.reservedMicros
  const perToken = costOf(rate, { ...input, output: 1_000_000 }) - costOf(rate, input)
  const affordable = Math.floor(((left - costOf(rate, input)) / perToken) * 1_000_000)
  if (affordable < request.leastTokens) throw costExceeded(run, refusal(run, rate.priced))
  const lowered = affordable < request.maxTokens
  if (lowered) {
    request.body[request.bound] = affordable
    text = JSON.stringify(request.body)
  }
  const worst = { ...input, output: Math.min(affordable, request.maxTokens) }
  const micros = costOf(rate, worst)
  run.reservedMicros += micros
  return { text, worst, micros, lowered }
}

/** May be called twice: what was given back once is gone. */
export function release(run: ModelRun, reserved: Reserved): void {
  run.reservedMicros -= reserved.micros
  reserved.micros = 0
  if (run.reservedMicros === 0) run.onIdle?.()
}

/** Four bytes are a token in ordinary text, two in the densest; the provider adds words of its own about tools. */
function worstInput(wire: Wire, body: JsonObject, text: string): Usage {
  const words = Math.ceil(Buffer.byteLength(text) / 2) + 1000
  const tokens = Math.min(words + mediaTokens(wire, body), LARGEST_WINDOW)
  const written = text.includes('"cache_control"')
  const none = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0, output: 0 }
  return written ? { ...none, cacheWriteLong: tokens } : { ...none, input: tokens }
}

/** What a call probably used of which the provider never told. */
export function likelyUsage(text: string, answerLength: number): Usage {
  const input = Math.ceil(Buffer.byteLength(text) / 4)
  return { input, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0, output: Math.ceil(answerLength / 4) }
}

function refusal(run: ModelRun, priced: boolean): string {
  const { spentMicros, maxCostMicros, model } = run
  const assumed = priced ? '' : ` ('${model.name}' has no known price and counts at an assumed one)`
  return `cost ceiling reached: ${dollars(spentMicros)} of ${dollars(maxCostMicros)} usd are spent${assumed}`
}

const dollars = (micros: number) => String(Math.round(micros / 100) / 10_000)
