import { endTask } from '../../../approvals/lifecycle/end-task.ts'
import { type Ctx, inTx } from '../../../platform/ctx/ctx.ts'
import type { ClaimedTask } from '../../../approvals/lifecycle/claimed-task.ts'
import { INTERRUPTED_ENDING } from './dead-replicas.ts'
import { tryReleaseTask } from '../resume/park-run.ts'
import { HEARTBEATS_PER_LEASE } from './replica-lease.ts'
import { findUnbegunTask, listActiveTasksOfReplica } from './rows.ts'

/** As long as a lease, because the row of a task is written shortly before the runner knows its run. */
const MIN_ORPHANED_CHECKS = HEARTBEATS_PER_LEASE

/** What the runner does for orphaned tasks. */
interface TaskExecutor {
  executingTaskIds(): Set<string>
  executeAgain(claimed: ClaimedTask): void
}

/**
 * Tasks that the database assigns to this replica but that it does not execute, because their end could not be stored or
 * their claim was not reported. No other replica ends them, because this replica is alive. A task whose agent has done
 * nothing yet is executed again; the others end as interrupted.
 */
export class OrphanedTasks {
  readonly #ctx: Ctx
  readonly #runner: TaskExecutor
  /** How many checks in a row found each task orphaned. */
  #checks = new Map<string, number>()

  constructor(ctx: Ctx, runner: TaskExecutor) {
    this.#ctx = ctx
    this.#runner = runner
  }

  async handleOrphaned(): Promise<void> {
    const held = await listActiveTasksOfReplica(this.#ctx.db, { replica: this.#ctx.replica })
    // Read after the rows: a task that started meanwhile is executing, and one that ended is gone at the next check.
    const executing = this.#runner.executingTaskIds()
    const orphaned = held.filter(({ id }) => !executing.has(id))
    this.#checks = new Map(orphaned.map(({ id }) => [id, (this.#checks.get(id) ?? 0) + 1]))
    for (const { id, epoch } of orphaned) {
      if ((this.#checks.get(id) ?? 0) >= MIN_ORPHANED_CHECKS) await this.#handle(id, epoch)
    }
  }

  async #handle(id: string, epoch: number): Promise<void> {
    const { db, world } = this.#ctx
    const [task] = await findUnbegunTask(db, { id, epoch })
    if (task) {
      this.#runner.executeAgain({ task, hasStarted: task.status === 'running' })
      world.log.warn({ task: id }, 'orphaned task started again')
    } else if (await inTx(this.#ctx, (tx) => tryReleaseTask(tx, { id, epoch }))) {
      world.log.warn({ task: id }, 'orphaned task released')
    } else if (await inTx(this.#ctx, (tx) => endTask(tx, id, INTERRUPTED_ENDING, epoch))) {
      world.log.warn({ task: id }, 'orphaned task ended')
    }
  }
}
