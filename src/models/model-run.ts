import type { Json } from '../base/json.ts'
import type { LazyAbort } from '../base/lazy-abort.ts'
import { Problem } from '../base/problem.ts'
import type { Wedge } from '../contract/wedge-manifest.ts'
import type { ModelChoice } from './choose-model.ts'

/** What the model proxy knows of a run. The numbers change with every call; the row has the last word on the spend. */
export interface ModelRun {
  taskId: string
  epoch: number
  projectId: string
  wedge: Wedge
  taskType: string
  input: Json
  model: ModelChoice
  maxCostMicros: number
  /** What the ceiling has seen so far; a model without a price counts at the assumed rate. */
  spentMicros: number
  /** The worst case of the calls that are under way. */
  reservedMicros: number
  /** Told when no call is under way any more: all that was used is charged. */
  onIdle?: () => void
  /** No call may go on, or begin. */
  over: LazyAbort
  /** Why the model could not go on; the reason of the task's end if the agent ends in an error. */
  failure: ModelFailure | null
}

interface ModelFailure {
  reason: 'cost_exceeded' | 'model_failed'
  message: string
}

/** Notes why the model failed and answers with what the sandbox is told. */
export function noteModelFailure(run: ModelRun, sentence: string, status = 502): Problem {
  run.failure = { reason: 'model_failed', message: `model failed: ${sentence}` }
  return new Problem(status, sentence)
}

export function noteCostExceeded(run: ModelRun, sentence: string): Problem {
  run.failure = { reason: 'cost_exceeded', message: sentence }
  return new Problem(402, sentence)
}
