import { addJitter, doublingWaits, repeatedWaitAfter } from '../../platform/base/backoff.ts'
import type { Problem } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { sleep } from '../../platform/ctx/world.ts'
import { RunEndedError } from '../../work/events/append-events.ts'
import type { ModelChoice } from './choose-model.ts'
import { PROVIDER_URL_SETTINGS, PROVIDER_KEY_SETTINGS } from './provider-keys.ts'
import { setModelFailure, type ModelRun } from './model-run.ts'
import {
  type ProviderFailure,
  isProviderFailure,
  type ProviderRequest,
  attemptProviderCall,
  type ProviderResponse,
} from './provider-call.ts'

/** If a provider asks for a longer wait, the call is not retried. */
const LIMITS = { attempts: 4, waitMs: 60_000 }
/** If another model can take over, the agent does not wait long for this one. */
const LIMITS_BEFORE_SWITCH = { attempts: 2, waitMs: 5_000 }
const RETRY_WAITS_MS = doublingWaits(LIMITS.attempts, 500)

/** A request that is too large, or has content that the model does not take. */
const REFUSED_CONTENT: ReadonlySet<number | null> = new Set([400, 413, 415, 422])

/**
 * Calls the provider and retries failures that may pass. A failure after the first byte is not retried: by then the
 * agent has received a part of the answer. A model that takes no images or PDFs refuses the call: it is then made once
 * more without them.
 */
export async function callProviderWithRetry(
  ctx: Ctx,
  run: ModelRun,
  model: ModelChoice,
  createRequest: () => ProviderRequest,
  dropFiles: () => boolean,
): Promise<ProviderResponse> {
  for (let attempts = 1; ; attempts++) {
    if (run.over.isAborted) throw new RunEndedError()
    const outcome = await attemptProviderCall(ctx.world.clock, createRequest(), run.over.signal)
    if (!isProviderFailure(outcome)) return outcome
    if (run.over.isAborted) throw new RunEndedError()
    if (REFUSED_CONTENT.has(outcome.status) && dropFiles()) {
      ctx.world.log.warn({ task: run.taskId, status: outcome.status }, `files not shown to the model${outcome.reason}`)
      continue
    }
    ctx.counts.modelFailures.at({ model: model.name, reason: failureKind(outcome) }).attempts++
    const waitMs = outcome.retryAfterMs ?? addJitter(repeatedWaitAfter(RETRY_WAITS_MS, attempts), ctx.world.random(1))
    const { provider, name } = model
    const limits = canSwitchModel(run, model, outcome) ? LIMITS_BEFORE_SWITCH : LIMITS
    const last = !outcome.isRetryable || attempts >= limits.attempts || waitMs > limits.waitMs
    ctx.world.log.warn(
      { task: run.taskId, provider, model: name, attempts, status: outcome.status, last },
      `model failed: ${provider} ${outcome.message}${outcome.reason}`,
    )
    if (last) {
      const problem = setModelFailure(run, failureMessage(model, outcome, attempts, waitMs))
      throw limits === LIMITS ? problem : new ModelUnavailable(problem)
    }
    await sleep(ctx.world.clock, waitMs, run.over.signal)
  }
}

/** For the metrics: a few kinds, whatever the provider says. */
function failureKind({ status }: ProviderFailure): string {
  if (status === null) return 'unreachable'
  if (status === 429) return 'rate_limited'
  return status >= 500 ? 'server_error' : 'refused'
}

/** The model is not available, and another one can be used. */
export class ModelUnavailable extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(problem.message)
    this.problem = problem
  }
}

/** Without a status the provider was not reached or took too long. Another model cannot help a refused request. */
function canSwitchModel(run: ModelRun, model: ModelChoice, { status }: ProviderFailure): boolean {
  const isUnavailable = status === null || status === 408 || status === 429 || status >= 500
  return isUnavailable && (run.fallbacks.length > 0 || run.model !== model)
}

function failureMessage(
  { provider, wire }: ModelChoice,
  failed: ProviderFailure,
  attempts: number,
  waitMs: number,
): string {
  const attemptsText = attempts > 1 ? ` after ${attempts} attempts` : ''
  const waitText = failed.isRetryable && waitMs > LIMITS.waitMs ? ` and asks to wait ${Math.ceil(waitMs / 1000)} s` : ''
  return `${provider} ${failed.message}${attemptsText}${waitText}${failed.reason}${settingHint(wire, failed.status)}`
}

function settingHint(wire: ModelChoice['wire'], status: number | null): string {
  if (status === 401 || status === 403) return `; check ${PROVIDER_KEY_SETTINGS[wire]}`
  if (status === null || status === 404) return `; check SVC_MODEL and ${PROVIDER_URL_SETTINGS[wire]}`
  return ''
}
