import { endTask } from '../lifecycle/end-task.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import { INTERRUPTED_ENDING } from './dead-replicas.ts'
import { HEARTBEAT_INTERVAL_MS, LEASE_TIMEOUT_MS } from './replica-lease.ts'
import { listActiveTasksOfReplica } from './rows.ts'

/** As long as a lease, because the row of a task is written shortly before the runner knows its run. */
const MIN_ORPHANED_CHECKS = LEASE_TIMEOUT_MS / HEARTBEAT_INTERVAL_MS

/**
 * Tasks that the database assigns to this replica but that it does not execute, because their end could not be stored or
 * their claim was not reported. No other replica ends them, because this replica is alive.
 */
export class OrphanedTasks {
  readonly #ctx: Ctx
  readonly #executing: () => Set<string>
  /** How many checks in a row found each task orphaned. */
  #checks = new Map<string, number>()

  constructor(ctx: Ctx, executing: () => Set<string>) {
    this.#ctx = ctx
    this.#executing = executing
  }

  async endOrphaned(): Promise<void> {
    const held = await listActiveTasksOfReplica(this.#ctx.db, { replica: this.#ctx.replica })
    // Read after the rows: a task that started meanwhile is executing, and one that ended is gone at the next check.
    const executing = this.#executing()
    const orphaned = held.filter(({ id }) => !executing.has(id))
    this.#checks = new Map(orphaned.map(({ id }) => [id, (this.#checks.get(id) ?? 0) + 1]))
    for (const { id, epoch } of orphaned) {
      if ((this.#checks.get(id) ?? 0) < MIN_ORPHANED_CHECKS) continue
      const ended = await inTx(this.#ctx, (tx) => endTask(tx, id, INTERRUPTED_ENDING, epoch))
      if (ended) this.#ctx.world.log.warn({ task: id }, 'orphaned task ended')
    }
  }
}
