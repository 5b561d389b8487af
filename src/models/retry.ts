import type { Ctx } from '../ctx/ctx.ts'
import { sleep } from '../ctx/world.ts'
import { RunEndedError } from '../events/append-events.ts'
import type { ModelChoice } from './choose-model.ts'
import { PROVIDER_URL_SETTINGS, PROVIDER_KEY_SETTINGS } from './provider-keys.ts'
import { noteModelFailure, type ModelRun } from './model-run.ts'
import {
  type ProviderFailure,
  isProviderFailure,
  type ProviderRequest,
  attemptProviderCall,
  type ProviderResponse,
} from './provider-call.ts'

const MAX_ATTEMPTS = 4
const FIRST_RETRY_WAIT_MS = 500
/** A provider that asks for more patience than this will not be asked again. */
const MAX_RETRY_WAIT_MS = 60_000

/**
 * Asks the provider, again where that can help. Only what fails before the first byte is tried again: after it, the
 * agent has heard a part of the answer already.
 */
export async function callProviderWithRetry(
  ctx: Ctx,
  run: ModelRun,
  outgoing: () => ProviderRequest,
): Promise<ProviderResponse> {
  for (let tries = 1; ; tries++) {
    if (run.over.isAborted) throw new RunEndedError()
    const outcome = await attemptProviderCall(ctx.world.clock, outgoing(), run.over.signal)
    if (!isProviderFailure(outcome)) return outcome
    if (run.over.isAborted) throw new RunEndedError()
    const wait = outcome.retryAfterMs ?? retryDelay(ctx, tries)
    const { provider, name } = run.model
    const last = !outcome.isRetryable || tries === MAX_ATTEMPTS || wait > MAX_RETRY_WAIT_MS
    ctx.world.log.warn({ task: run.taskId, provider, model: name, tries, status: outcome.status, last }, 'model failed')
    if (last) throw noteModelFailure(run, failureMessage(run.model, outcome, tries, wait))
    await sleep(ctx.world.clock, wait, run.over.signal)
  }
}

/** Doubles, with up to a quarter more, so that runs that failed together do not come back together. */
function retryDelay(ctx: Ctx, tries: number): number {
  const [chance = 0] = ctx.world.random(1)
  return FIRST_RETRY_WAIT_MS * 2 ** (tries - 1) * (1 + chance / 1024)
}

function failureMessage({ provider, wire }: ModelChoice, failed: ProviderFailure, tries: number, wait: number): string {
  const often = tries > 1 ? ` after ${tries} tries` : ''
  const patience = failed.isRetryable && wait > MAX_RETRY_WAIT_MS ? ` and asks to wait ${Math.ceil(wait / 1000)} s` : ''
  return `${provider} ${failed.message}${often}${patience}${settingHint(wire, failed.status)}`
}

function settingHint(wire: ModelChoice['wire'], status: number | null): string {
  if (status === 401 || status === 403) return `; check ${PROVIDER_KEY_SETTINGS[wire]}`
  if (status === null || status === 404) return `; check SVC_MODEL and ${PROVIDER_URL_SETTINGS[wire]}`
  return ''
}
