import { MAX_CONTEXT_TOKENS, maxMediaTokens } from './media-tokens.ts'
import type { TokenUsage } from '../../platform/contract/providers/provider-format.ts'
import { costInMicros, type ModelPrice, type PricedModel } from './model-prices.ts'
import type { ModelRequest } from './model-request.ts'
import { setCostExceeded, type ModelRun } from './model-run.ts'

/** A request that fits the remaining budget of the task, and the cost reserved for it. */
export interface CostReservation {
  text: string
  /** The most tokens that the call can use; `micros` is their cost. */
  worstCase: TokenUsage
  micros: number
  /** The token limit of the answer was lowered below the requested one. */
  isAnswerShortened: boolean
  isReleased: boolean
}

/**
 * Reserves the worst-case cost before the call is sent, so that concurrent calls together cannot exceed the ceiling. If
 * the answer could cost too much, its token limit is lowered; if too little is left for any answer, the call is refused.
 * `fileTokens` are those of files that are not yet in the request.
 */
export function reserveCost(run: ModelRun, price: PricedModel, request: ModelRequest, fileTokens = 0): CostReservation {
  let text = JSON.stringify(request.body)
  const input = worstCaseInput(price, request, text, fileTokens)
  const affordable = affordableTokens(run, price, input)
  if (affordable < request.minTokens) throw setCostExceeded(run, ceilingMessage(run, request.body.model, price))
  const isAnswerShortened = affordable < request.maxTokens
  if (isAnswerShortened) {
    request.body[request.limitField] = affordable
    text = JSON.stringify(request.body)
  }
  const worst = { ...input, output: Math.min(affordable, request.maxTokens) }
  const micros = costInMicros(price, worst)
  run.reservedMicros += micros
  run.openCalls++
  return { text, worstCase: worst, micros, isAnswerShortened, isReleased: false }
}

/** Whether the call can be paid with these files and with an answer of full length. */
export function canAffordFiles(run: ModelRun, price: ModelPrice, request: ModelRequest, fileTokens: number): boolean {
  const input = worstCaseInput(price, request, JSON.stringify(request.body), fileTokens)
  return affordableTokens(run, price, input) >= request.maxTokens
}

/** The length of the answer that the rest of the budget pays for. */
function affordableTokens(run: ModelRun, price: ModelPrice, input: TokenUsage): number {
  const left = run.maxCostMicros - run.spentMicros - run.reservedMicros
  const perToken = costInMicros(price, { ...input, output: 1_000_000 }) - costInMicros(price, input)
  if (perToken === 0) return costInMicros(price, input) <= left ? Infinity : 0
  return Math.floor(((left - costInMicros(price, input)) / perToken) * 1_000_000)
}

/** May be called more than once for the same reservation. */
export function releaseCost(run: ModelRun, reserved: CostReservation): void {
  if (reserved.isReleased) return
  reserved.isReleased = true
  run.reservedMicros -= reserved.micros
  run.openCalls--
  if (run.openCalls === 0) for (const resume of run.idleListeners.splice(0)) resume()
}

/** Ordinary text has about four bytes per token, dense text two; the provider adds text about the tools. */
function worstCaseInput(price: ModelPrice, { api, body }: ModelRequest, text: string, fileTokens: number): TokenUsage {
  const textTokens = Math.ceil(Buffer.byteLength(text) / 2) + 1000
  const tokens = Math.min(textTokens + maxMediaTokens(api, body) + fileTokens, MAX_CONTEXT_TOKENS)
  const writesCache = text.includes('"cache_control"') && (price.cacheWrite ?? Infinity) > price.input
  const none = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0, output: 0 }
  return writesCache ? { ...none, cacheWriteLong: tokens } : { ...none, input: tokens }
}

/** Estimates the usage of a call whose provider reported none. */
export function estimateUsage(text: string, answerLength: number): TokenUsage {
  const input = Math.ceil(Buffer.byteLength(text) / 4)
  return { input, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0, output: Math.ceil(answerLength / 4) }
}

function ceilingMessage({ spentMicros, maxCostMicros }: ModelRun, model: string, { priced }: PricedModel): string {
  const assumed = priced ? '' : ` ('${model}' has no known price, so an assumed price is used)`
  return `cost ceiling reached: ${formatUsd(spentMicros)} of ${formatUsd(maxCostMicros)} usd spent${assumed}`
}

const formatUsd = (micros: number) => String(Math.round(micros / 100) / 10_000)
