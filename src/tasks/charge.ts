import type { Counts } from '../ctx/counts.ts'
import type { Tx } from '../ctx/ctx.ts'
import { RunOver, write } from '../events/append.ts'
import { addCost } from './state-rows.ts'

export interface Charge {
  model: string
  input_tokens: number
  output_tokens: number
  micros: number
  /** The model has no known price: the charge is not nothing, it is unknown. */
  unpriced: boolean
}

/** Adds to the task's spend and says so in its log, fenced by the run's epoch. Answers the total in micro-dollars. */
export async function charge(tx: Tx, run: { taskId: string; epoch: number }, charge: Charge): Promise<number> {
  const { micros, unpriced, ...usage } = charge
  const [task] = await addCost(tx.db, { id: run.taskId, epoch: run.epoch, micros })
  if (!task) throw new RunOver()
  const data = { ...usage, cost_usd: micros / 1e6, total_usd: task.cost_micros / 1e6, ...(unpriced && { unpriced }) }
  await write(tx, run.taskId, task.last_event_id, [{ type: 'cost.charged', data }])
  tx.afterCommit(() => count(tx.counts, charge))
  return task.cost_micros
}

function count({ models }: Counts, { model, input_tokens, output_tokens, micros }: Charge): void {
  const used = models.get(model) ?? { calls: 0, inputTokens: 0, outputTokens: 0, micros: 0 }
  used.calls++
  used.inputTokens += input_tokens
  used.outputTokens += output_tokens
  used.micros += micros
  models.set(model, used)
}
