import type { Counts } from '../ctx/counts.ts'
import type { Tx } from '../ctx/ctx.ts'
import { RunEndedError, writeEvents } from '../events/append-events.ts'
import { updateTaskCost } from './rows.ts'

export interface ModelCharge {
  model: string
  input_tokens: number
  output_tokens: number
  micros: number
  /** The model has no known price, so the charge is unknown and not zero. */
  unpriced: boolean
}

/** Adds a model call to the cost of the task and to its log, if the epoch is current. Returns the total in micro-dollars. */
export async function chargeTask(tx: Tx, run: { taskId: string; epoch: number }, charge: ModelCharge): Promise<number> {
  const { micros, unpriced, ...usage } = charge
  const [task] = await updateTaskCost(tx.db, { id: run.taskId, epoch: run.epoch, micros })
  if (!task) throw new RunEndedError()
  const data = { ...usage, cost_usd: micros / 1e6, total_usd: task.cost_micros / 1e6, ...(unpriced && { unpriced }) }
  await writeEvents(tx, run.taskId, task.last_event_id, [{ type: 'cost.charged', data }])
  tx.afterCommit(() => countModelUse(tx.counts, charge))
  return task.cost_micros
}

function countModelUse({ models }: Counts, { model, input_tokens, output_tokens, micros }: ModelCharge): void {
  const used = models.get(model) ?? { calls: 0, inputTokens: 0, outputTokens: 0, micros: 0 }
  used.calls++
  used.inputTokens += input_tokens
  used.outputTokens += output_tokens
  used.micros += micros
  models.set(model, used)
}
