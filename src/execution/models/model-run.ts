import type { Json } from '../../platform/base/json.ts'
import type { LazyAbort } from '../../platform/base/lazy-abort.ts'
import { Problem } from '../../platform/base/problem.ts'
import type { Wedge } from '../../platform/contract/wedge/wedge-manifest.ts'
import type { FileRow } from '../../platform/store/tables.ts'
import type { ModelChoice } from './choose-model.ts'
import { OutputItems } from './output-items.ts'
import type { ToolLog } from './tool-log.ts'

/** Why model calls are aborted. */
export const RUN_IS_OVER = 'the run is over'

/** What the model proxy knows about a run. The costs are for the ceiling only; the task row holds what was charged. */
export interface ModelRun {
  taskId: string
  epoch: number
  projectId: string
  wedge: Wedge
  taskType: string
  input: Json
  model: ModelChoice
  /** The models that replace the present one when it is not available. */
  fallbacks: ModelChoice[]
  /** The files that the model may see. */
  files: FileRow[]
  /** The provider refused a call because of its files, so the next calls have none. */
  refusesFiles: boolean
  /** Records the tools of an agent that may not log them itself; null for the bundled agent, which does. */
  toolLog: ToolLog | null
  outputItems: OutputItems
  maxCostMicros: number
  /** Cost of the finished calls; a model without a known price counts at the assumed price. */
  spentMicros: number
  /** Worst-case cost of the calls in progress. */
  reservedMicros: number
  /** The number of calls in progress. */
  openCalls: number
  /** Counts of tokens: so far, and in progress. */
  tokenCounts: { asked: number; open: number }
  /** Each is called when no call is in progress any more and all usage is charged. */
  idleListeners: (() => void)[]
  /** Stores all events of the agent so far. */
  flushLog: () => Promise<void>
  /** Aborted when no call may start or continue. */
  over: LazyAbort
  /** Why the last call failed; becomes the error of the task if the agent ends with an error. */
  failure: ModelFailure | null
}

/** The state of the proxy at the beginning of a run. */
export const newModelState = () => ({
  refusesFiles: false,
  toolLog: null,
  outputItems: new OutputItems(),
  spentMicros: 0,
  reservedMicros: 0,
  openCalls: 0,
  idleListeners: [],
  tokenCounts: { asked: 0, open: 0 },
  failure: null,
})

interface ModelFailure {
  reason: 'cost_exceeded' | 'model_failed'
  message: string
}

/** Libraries of providers try again by themselves, but the proxy has already done that. */
const DO_NOT_RETRY = { headers: { 'x-should-retry': 'false' } }

/** Stores the failure in the run and returns the error response for the sandbox. */
export function setModelFailure(run: ModelRun, message: string, status = 502): Problem {
  run.failure = { reason: 'model_failed', message: `model failed: ${message}` }
  return new Problem(status, message, DO_NOT_RETRY)
}

/** Many frameworks hide the sentence of a refusal, so it is also the error of a task that fails because of it. */
export function setRefusedCall(run: ModelRun, message: string): void {
  if (run.failure?.message.endsWith(message)) return
  run.failure = { reason: 'model_failed', message: `model call refused: ${message}` }
}

export function setCostExceeded(run: ModelRun, message: string): Problem {
  run.failure = { reason: 'cost_exceeded', message }
  return new Problem(402, message)
}

/** Aborts the model calls in progress and waits until their cost is stored. */
export async function stopModelCalls(run: Pick<ModelRun, 'over' | 'openCalls' | 'idleListeners'>): Promise<void> {
  // No call is in progress, and the agent cannot start one without valid tokens.
  if (run.openCalls === 0) return
  const idle = new Promise<void>((resolve) => run.idleListeners.push(resolve))
  run.over.abort(RUN_IS_OVER)
  await idle
}
