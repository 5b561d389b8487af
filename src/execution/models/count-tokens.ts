import type { IncomingHttpHeaders } from 'node:http'
import { pickFields } from '../../platform/base/json-fields.ts'
import type { JsonObject } from '../../platform/base/json.ts'
import { Problem } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { estimateUsage } from './cost-ceiling.ts'
import type { ModelRun } from './model-run.ts'
import { attemptProviderCall, isProviderFailure, type ProviderRequest } from './provider-call.ts'
import { toProviderRequest } from './provider-request.ts'
import { parseAnswer, readWholeResponse } from './read-response.ts'
import { refuseFields } from './refuse-fields.ts'
import { refuseOutsideContent } from './restrict-request.ts'

const COUNTED_FIELDS = `system messages tools tool_choice thinking output_config output_format cache_control
  context_management`.split(/\s+/)

/** A count is free, but it uses up the rate limit of a key that all projects share. */
const MAX_COUNTS_PER_RUN = 1000
const MAX_OPEN_COUNTS = 4

/** Asks the provider how many tokens a request has. That is free, so it is neither reserved nor charged. */
export async function countTokens(
  ctx: Ctx,
  run: ModelRun,
  requested: JsonObject,
  headers: IncomingHttpHeaders,
): Promise<JsonObject> {
  const { provider, name } = run.model
  refuseFields('anthropic', requested)
  const body: JsonObject = { model: name, ...pickFields(requested, ...COUNTED_FIELDS) }
  refuseOutsideContent('anthropic', body)
  const text = JSON.stringify(body)
  if (provider === 'rehearsal') return { input_tokens: estimateUsage(text, 0).input }
  const path = 'v1/messages/count_tokens'
  const request = toProviderRequest(ctx, { provider: 'anthropic', path, streams: false, text }, headers)
  return withinLimits(run, () => askProvider(ctx, run, request))
}

async function withinLimits<T>({ tokenCounts }: ModelRun, ask: () => Promise<T>): Promise<T> {
  const { asked, open } = tokenCounts
  if (asked >= MAX_COUNTS_PER_RUN) throw new Problem(429, `a run may count tokens ${MAX_COUNTS_PER_RUN} times`)
  if (open >= MAX_OPEN_COUNTS)
    throw new Problem(429, `a run may count the tokens of ${MAX_OPEN_COUNTS} requests at once`)
  tokenCounts.asked++
  tokenCounts.open++
  try {
    return await ask()
  } finally {
    tokenCounts.open--
  }
}

async function askProvider(ctx: Ctx, run: ModelRun, request: ProviderRequest): Promise<JsonObject> {
  const { provider } = run.model
  const response = await attemptProviderCall(ctx.world.clock, request, run.over.signal)
  // The task can go on without the count, so the failure is not noted as the error of the task.
  if (isProviderFailure(response)) throw new Problem(502, `${provider} ${response.message}${response.reason}`)
  const { content, breakReason } = await readWholeResponse(response)
  const counted = parseAnswer(content)
  if (breakReason !== null || !counted)
    throw new Problem(502, `${provider} ${breakReason ?? 'did not answer with json'}`)
  return counted
}
