import type { Ctx } from '../ctx/ctx.ts'
import { sleep } from '../ctx/world.ts'
import { RunOver } from '../events/append.ts'
import type { ModelChoice } from './choose.ts'
import { ADDRESSES, KEYS } from './keys.ts'
import { modelFailed, type ModelRun } from './run.ts'
import { type Failed, isFailed, type Outgoing, tryUpstream, type Upstream } from './upstream.ts'

const MOST_TRIES = 4
const FIRST_WAIT_MS = 500
/** A provider that asks for more patience than this will not be asked again. */
const LONGEST_WAIT_MS = 60_000

/**
 * Asks the provider, again where that can help. Only what fails before the first byte is tried again: after it, the
 * agent has heard a part of the answer already.
 */
export async function openUpstream(ctx: Ctx, run: ModelRun, outgoing: () => Outgoing): Promise<Upstream> {
  for (let tries = 1; ; tries++) {
    if (run.over.isAborted) throw new RunOver()
    const outcome = await tryUpstream(ctx.world.clock, outgoing(), run.over.signal)
    if (!isFailed(outcome)) return outcome
    if (run.over.isAborted) throw new RunOver()
    const wait = outcome.retryAfterMs ?? backoff(ctx, tries)
    const { provider, name } = run.model
    const last = !outcome.again || tries === MOST_TRIES || wait > LONGEST_WAIT_MS
    ctx.world.log.warn({ task: run.taskId, provider, model: name, tries, status: outcome.status, last }, 'model failed')
    if (last) throw modelFailed(run, sentence(run.model, outcome, tries, wait))
    await sleep(ctx.world.clock, wait, run.over.signal)
  }
}

/** Doubles, with up to a quarter more, so that runs that failed together do not come back together. */
function backoff(ctx: Ctx, tries: number): number {
  const [chance = 0] = ctx.world.random(1)
  return FIRST_WAIT_MS * 2 ** (tries - 1) * (1 + chance / 1024)
}

function sentence({ provider, wire }: ModelChoice, failed: Failed, tries: number, wait: number): string {
  const often = tries > 1 ? ` after ${tries} tries` : ''
  const patience = failed.again && wait > LONGEST_WAIT_MS ? ` and asks to wait ${Math.ceil(wait / 1000)} s` : ''
  return `${provider} ${failed.sentence}${often}${patience}${hint(wire, failed.status)}`
}

function hint(wire: ModelChoice['wire'], status: number | null): string {
  if (status === 401 || status === 403) return `; check ${KEYS[wire]}`
  if (status === null || status === 404) return `; check SVC_MODEL and ${ADDRESSES[wire]}`
  return ''
}
