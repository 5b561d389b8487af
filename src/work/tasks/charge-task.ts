import type { Counts } from '../../platform/ctx/counts.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import { addDuration } from '../../platform/ctx/histogram.ts'
import { RunEndedError, writeEvents } from '../events/append-events.ts'
import { updateTaskCost } from './rows.ts'

export interface ModelCharge {
  provider: string
  model: string
  /** The model that wrote the reply, and why it stopped, if the provider said it. */
  response_model?: string
  finish_reason?: string
  streamed: boolean
  /** Includes the tokens that were read from the provider's cache or written to it. */
  input_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  output_tokens: number
  duration_ms: number
  micros: number
  /** The model has no known price, so the charge is unknown and not zero. */
  unpriced: boolean
}

interface ChargedRun {
  taskId: string
  epoch: number
  wedge: { slug: string }
}

/** Adds a model call to the cost of the task and to its log, if the epoch is current. Returns the total in micro-dollars. */
export async function chargeTask(tx: Tx, run: ChargedRun, charge: ModelCharge): Promise<number> {
  const { micros, unpriced, ...usage } = charge
  const [task] = await updateTaskCost(tx.db, { id: run.taskId, epoch: run.epoch, micros })
  if (!task) throw new RunEndedError()
  const data = { ...usage, cost_usd: micros / 1e6, total_usd: task.cost_micros / 1e6, ...(unpriced && { unpriced }) }
  await writeEvents(tx, run.taskId, task.last_event_id, [{ type: 'cost.charged', data }])
  tx.afterCommit(() => countModelUse(tx.counts, run.wedge.slug, charge))
  return task.cost_micros
}

function countModelUse({ models }: Counts, wedge: string, charge: ModelCharge): void {
  const used = models.at({ model: charge.model, wedge })
  used.inputTokens += charge.input_tokens
  used.outputTokens += charge.output_tokens
  used.cacheReadTokens += charge.cache_read_tokens
  used.cacheWriteTokens += charge.cache_write_tokens
  used.micros += charge.micros
  addDuration(used.times, charge.duration_ms)
}
