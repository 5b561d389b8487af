import { type Ctx, inDurableTx } from '../../platform/ctx/ctx.ts'
import { appendEvents } from '../../work/events/append-events.ts'
import type { ModelChoice } from './choose-model.ts'
import type { ModelRun } from './model-run.ts'

/**
 * Continues the run with its next model and says so in the log. The run keeps that model: a provider that failed often
 * fails again, and each attempt takes time. False if there is no other model.
 */
export async function switchModel(ctx: Ctx, run: ModelRun, failed: ModelChoice): Promise<boolean> {
  // Another call of the run has switched meanwhile.
  if (run.model !== failed) return true
  const next = run.fallbacks.shift()
  if (!next) return false
  run.model = next
  // The next model may take the files that this one refused.
  run.refusesFiles = false
  const [before, model] = [modelId(failed), modelId(next)]
  ctx.world.log.warn({ task: run.taskId, from: before, to: model }, 'model switched')
  await run.flushLog()
  const text = `${before} is not available; the run continues with ${model}.`
  await inDurableTx(ctx, (tx) =>
    appendEvents(tx, run, [{ type: 'progress', data: { text, state: 'model_switched', model } }]),
  )
  return true
}

const modelId = ({ provider, name }: ModelChoice) => `${provider}/${name}`
