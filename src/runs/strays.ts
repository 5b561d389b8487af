import { endTask } from '../approvals/settle.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import { BEAT_MS, INTERRUPTED, LEASE_MS } from './leases.ts'
import { activeTasksOf } from './rows.ts'

/** As patient as others are with a replica that is silent. A run that is about to be known has its row a moment before. */
const STRAY_LOOKS = LEASE_MS / BEAT_MS

/**
 * Tasks that this replica holds and does not carry out: an end that could not be written, a beginning of which nobody
 * heard. No other replica ends them, because this one lives.
 */
export class Strays {
  readonly #ctx: Ctx
  readonly #carried: () => Set<string>
  /** How often each was found so, in a row. */
  #looks = new Map<string, number>()

  constructor(ctx: Ctx, carried: () => Set<string>) {
    this.#ctx = ctx
    this.#carried = carried
  }

  async end(): Promise<void> {
    const held = await activeTasksOf(this.#ctx.db, { replica: this.#ctx.replica })
    // Asked after the rows: what was begun meanwhile is carried, and what ended meanwhile is gone at the next look.
    const carried = this.#carried()
    const strays = held.filter(({ id }) => !carried.has(id))
    this.#looks = new Map(strays.map(({ id }) => [id, (this.#looks.get(id) ?? 0) + 1]))
    for (const { id, epoch } of strays) {
      if ((this.#looks.get(id) ?? 0) < STRAY_LOOKS) continue
      const ended = await inTx(this.#ctx, (tx) => endTask(tx, id, INTERRUPTED, epoch))
      if (ended) this.#ctx.world.log.warn({ task: id }, 'a task that nobody carries out is ended')
    }
  }
}
