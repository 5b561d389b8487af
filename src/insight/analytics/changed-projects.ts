import type { Ctx } from '../../platform/ctx/ctx.ts'
import { MIN_ROLLUP_AGE_MS } from './rollup.ts'

/** How often the new rows of changed projects are rolled up. */
export const CHANGED_PROJECTS_MS = 5_000

/** The projects in which this replica changed a task or an approval shortly before, so that idle ones cost nothing. */
export class ChangedProjects {
  readonly #ctx: Ctx
  readonly #changedAt = new Map<string, number>()

  constructor(ctx: Ctx) {
    this.#ctx = ctx
    ctx.changeHints.subscribe({ topic: 'status-changed' }, ({ projectId }) =>
      this.#changedAt.set(projectId, ctx.world.clock.now()),
    )
  }

  /** A project is listed until its newest rows are old enough for the rollup. */
  list(): string[] {
    const listed = [...this.#changedAt.keys()]
    const oldest = this.#ctx.world.clock.now() - MIN_ROLLUP_AGE_MS
    for (const [projectId, at] of this.#changedAt) if (at < oldest) this.#changedAt.delete(projectId)
    return listed
  }
}
