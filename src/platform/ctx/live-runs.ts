/** Why a run is ended from outside. */
export type RunEndReason = 'rejected' | 'expired' | 'cancelled' | 'interrupted' | 'lost_lease' | 'parked'

/** The handle of a run on this replica. Folders that may not import the runner end runs through it. */
export interface LiveRun {
  taskId: string
  projectId: string
  epoch: number
  end(reason: RunEndReason): void
}

export class LiveRuns {
  readonly #runs = new Map<string, LiveRun>()

  add(run: LiveRun): void {
    this.#runs.set(run.taskId, run)
  }

  remove(run: LiveRun): void {
    if (this.#runs.get(run.taskId) === run) this.#runs.delete(run.taskId)
  }

  get(taskId: string): LiveRun | undefined {
    return this.#runs.get(taskId)
  }

  all(): LiveRun[] {
    return [...this.#runs.values()]
  }
}
