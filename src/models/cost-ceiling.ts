import type { JsonObject } from '../base/json.ts'
import type { ModelProvider } from '../contract/agent-protocol.ts'
import { MAX_CONTEXT_TOKENS, maxMediaTokens } from './media-tokens.ts'
import type { TokenUsage } from '../contract/providers/provider-format.ts'
import { costInMicros, type ModelPrice } from './model-prices.ts'
import type { ModelRequest } from './model-request.ts'
import { noteCostExceeded, type ModelRun } from './model-run.ts'

/** A request that fits what the task may still spend, and the money set aside for it. */
export interface CostReservation {
  text: string
  /** The most that the call can use, and what that costs. */
  worstCase: TokenUsage
  micros: number
  /** The answer was given less room than was asked for. */
  isAnswerShortened: boolean
}

/**
 * Sets the worst case aside before the call leaves, so that calls side by side cannot break the ceiling together. An
 * answer that might cost too much gets less room; when too little is left for any answer, the call is refused.
 */
export function reserveCost(
  run: ModelRun,
  rate: ModelPrice & { priced: boolean },
  request: ModelRequest,
): CostReservation {
  let text = JSON.stringify(request.body)
  const input = worstCaseInput(run.model.wire, request.body, text)
  const left = run.maxCostMicros - run.spentMicros - run.reservedMicros
  const perToken = costInMicros(rate, { ...input, output: 1_000_000 }) - costInMicros(rate, input)
  const affordable = Math.floor(((left - costInMicros(rate, input)) / perToken) * 1_000_000)
  if (affordable < request.minTokens) throw noteCostExceeded(run, ceilingMessage(run, rate.priced))
  const lowered = affordable < request.maxTokens
  if (lowered) {
    request.body[request.limitField] = affordable
    text = JSON.stringify(request.body)
  }
  const worst = { ...input, output: Math.min(affordable, request.maxTokens) }
  const micros = costInMicros(rate, worst)
  run.reservedMicros += micros
  return { text, worstCase: worst, micros, isAnswerShortened: lowered }
}

/** May be called twice: what was given back once is gone. */
export function releaseCost(run: ModelRun, reserved: CostReservation): void {
  run.reservedMicros -= reserved.micros
  reserved.micros = 0
  if (run.reservedMicros === 0) run.onIdle?.()
}

/** Four bytes are a token in ordinary text, two in the densest; the provider adds words of its own about tools. */
function worstCaseInput(wire: ModelProvider, body: JsonObject, text: string): TokenUsage {
  const words = Math.ceil(Buffer.byteLength(text) / 2) + 1000
  const tokens = Math.min(words + maxMediaTokens(wire, body), MAX_CONTEXT_TOKENS)
  const written = text.includes('"cache_control"')
  const none = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0, output: 0 }
  return written ? { ...none, cacheWriteLong: tokens } : { ...none, input: tokens }
}

/** What a call probably used of which the provider never told. */
export function estimateUsage(text: string, answerLength: number): TokenUsage {
  const input = Math.ceil(Buffer.byteLength(text) / 4)
  return { input, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0, output: Math.ceil(answerLength / 4) }
}

function ceilingMessage(run: ModelRun, priced: boolean): string {
  const { spentMicros, maxCostMicros, model } = run
  const assumed = priced ? '' : ` ('${model.name}' has no known price and counts at an assumed one)`
  return `cost ceiling reached: ${formatUsd(spentMicros)} of ${formatUsd(maxCostMicros)} usd are spent${assumed}`
}

const formatUsd = (micros: number) => String(Math.round(micros / 100) / 10_000)
