import { endTask } from '../lifecycle/end-task.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import { HEARTBEAT_INTERVAL_MS, INTERRUPTED_ENDING, LEASE_TIMEOUT_MS } from './replica-lease.ts'
import { listActiveTasksOfReplica } from './rows.ts'

/** As patient as others are with a replica that is silent. A run that is about to be known has its row a moment before. */
const MIN_ORPHANED_CHECKS = LEASE_TIMEOUT_MS / HEARTBEAT_INTERVAL_MS

/**
 * Tasks that this replica holds and does not carry out: an end that could not be written, a beginning of which nobody
 * heard. No other replica ends them, because this one lives.
 */
export class OrphanedTasks {
  readonly #ctx: Ctx
  readonly #carried: () => Set<string>
  /** How often each was found so, in a row. */
  #looks = new Map<string, number>()

  constructor(ctx: Ctx, carried: () => Set<string>) {
    this.#ctx = ctx
    this.#carried = carried
  }

  async endOrphaned(): Promise<void> {
    const held = await listActiveTasksOfReplica(this.#ctx.db, { replica: this.#ctx.replica })
    // Asked after the rows: what was begun meanwhile is carried, and what ended meanwhile is gone at the next look.
    const carried = this.#carried()
    const strays = held.filter(({ id }) => !carried.has(id))
    this.#looks = new Map(strays.map(({ id }) => [id, (this.#looks.get(id) ?? 0) + 1]))
    for (const { id, epoch } of strays) {
      if ((this.#looks.get(id) ?? 0) < MIN_ORPHANED_CHECKS) continue
      const ended = await inTx(this.#ctx, (tx) => endTask(tx, id, INTERRUPTED_ENDING, epoch))
      if (ended) this.#ctx.world.log.warn({ task: id }, 'a task that nobody carries out is ended')
    }
  }
}
