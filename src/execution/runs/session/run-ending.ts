import type { Json } from '../../../platform/base/json.ts'
import { LazyAbort } from '../../../platform/base/lazy-abort.ts'
import type { RunEndReason } from '../../../platform/ctx/live-runs.ts'
import type { TaskError } from '../../../work/tasks/status.ts'
import { RUN_IS_OVER } from '../../models/model-run.ts'
import type { CellExit } from '../../sandbox/driver.ts'
import type { TaskRun } from './task-run.ts'

/** How the session of an agent ended. */
export type RunEnd =
  | { kind: 'output'; output: Json }
  | { kind: 'error'; message: string }
  | { kind: 'crashed'; exit: CellExit }
  | { kind: 'flooded' }
  | { kind: 'storage_full' }
  | { kind: 'timeout' }
  | { kind: 'ended' }

/** Decides how a run ends: by its agent, by a limit, or from outside. */
export class RunEnding {
  /** Aborted when the run is ended from outside: by a cancel, a rejection, an expiry, a lost lease or a stop. */
  readonly over = new LazyAbort()
  /** The cause of a failure, if the service knows it better than the agent. */
  failure: TaskError | null = null
  /** Resolves with the first end. */
  readonly whenEnded: Promise<RunEnd>
  /** Resolves when `finish` has accepted an output. The program may still be running. */
  readonly whenFinished: Promise<void>
  #reason: RunEndReason | null = null
  #output: { output: Json } | null = null
  #resolveEnded: (end: RunEnd) => void = () => {}
  #resolveFinished: () => void = () => {}

  constructor() {
    this.whenEnded = new Promise((resolve) => {
      this.#resolveEnded = resolve
    })
    this.whenFinished = new Promise((resolve) => {
      this.#resolveFinished = resolve
    })
  }

  /** Why the run was ended from outside; the task has ended by then. */
  get reason(): RunEndReason | null {
    return this.#reason
  }

  /** Ends the session. Only the first end counts. */
  endWith(end: RunEnd): void {
    this.#resolveEnded(end)
  }

  /** Ends the run from outside. Only the first reason counts. */
  endFor(reason: RunEndReason): void {
    if (this.#reason) return
    this.#reason = reason
    this.over.abort(RUN_IS_OVER)
    this.endWith({ kind: 'ended' })
  }

  /** Takes the output that the agent gives before its program exits. False if it has given one before. */
  finish(output: Json): boolean {
    if (this.#output) return false
    this.#output = { output }
    this.#resolveFinished()
    return true
  }

  /** An output that `finish` has accepted counts, whatever ended the program afterwards, unless the run itself is over. */
  toFinalEnd(end: RunEnd): RunEnd {
    return this.#output && end.kind !== 'ended' ? { kind: 'output', ...this.#output } : end
  }
}

/** Ends a run from outside, with its model calls. */
export function endRun({ ending, model }: Pick<TaskRun, 'ending' | 'model'>, reason: RunEndReason): void {
  ending.endFor(reason)
  model.over.abort(RUN_IS_OVER)
}
