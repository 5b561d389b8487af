import { type CellKind, type CellMaker, type OpenCell, openCell } from './cells.ts'

/** A shared cell is replaced after so many runs, so that nothing that leaks adds up. */
const MOST_RUNS = 20_000
/** Parked runs hold a connection each; a cell may not run out of descriptors. */
const MOST_AT_ONCE = 200
/** Projects that have a cell of their own ready; the one that was idle for longest gives way. */
const MOST_SHARED = 16

/**
 * Cells on stock. Runs that execute no code share a cell of their project; all others get one of their own, which
 * dies with them. Never two projects in one cell.
 */
export class CellPool {
  readonly #maker: CellMaker
  readonly #warm = new Map<CellKind, Promise<OpenCell>[]>()
  /** By project, the one used last at the end. */
  readonly #shared = new Map<string, Promise<OpenCell>>()
  readonly #open = new Set<OpenCell>()
  #closed = false

  constructor(maker: CellMaker) {
    this.#maker = maker
  }

  /** A custom agent replaces the harness for every task. */
  get custom(): boolean {
    return this.#maker.ctx.config.agentCommand !== null
  }

  /** Starts the cells that the next runs will need. */
  warm(kind: CellKind): void {
    const stock = this.#warm.get(kind) ?? []
    this.#warm.set(kind, stock)
    while (stock.length < this.#maker.ctx.config.pool && !this.#closed) {
      const cell = this.#openCell(kind)
      // Whoever takes it from the shelf hears of a failure; until then nobody needs to.
      cell.catch(() => {})
      stock.push(cell)
    }
  }

  /** A cell for one run alone. */
  async own(kind: CellKind): Promise<OpenCell> {
    const stocked = this.#warm.get(kind)?.shift()
    this.warm(kind)
    const cell = await stocked?.catch(() => null)
    // One that died on the shelf is no reason to fail the task.
    return cell && this.#open.has(cell) ? cell : this.#openCell(kind)
  }

  /** The project's shared cell. */
  async share(projectId: string): Promise<OpenCell> {
    const known = this.#shared.get(projectId)
    const cell = await known?.catch(() => null)
    if (known !== this.#shared.get(projectId)) return this.share(projectId)
    if (cell && this.#usable(cell)) return cell
    const next = this.own('harness')
    this.#shared.delete(projectId)
    this.#shared.set(projectId, next)
    if (cell) await this.#discardIdle(cell)
    await this.#makeRoom()
    return next
  }

  /** A run has left its cell; an own cell dies with it, and a shared one that was replaced with its last run. */
  async leave(cell: OpenCell, runId: string): Promise<void> {
    cell.listeners.delete(runId)
    for (const shared of this.#shared.values()) if ((await shared.catch(() => null)) === cell) return
    await this.#discardIdle(cell)
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled([...this.#warm.values()].flat())
    await Promise.all([...this.#open].map((cell) => this.#discard(cell)))
  }

  #usable(cell: OpenCell): boolean {
    return this.#open.has(cell) && cell.carried < MOST_RUNS && cell.listeners.size < MOST_AT_ONCE
  }

  async #makeRoom(): Promise<void> {
    for (const [projectId, shared] of this.#shared) {
      if (this.#shared.size <= MOST_SHARED) return
      const cell = await shared.catch(() => null)
      if (cell && cell.listeners.size > 0) continue
      this.#shared.delete(projectId)
      if (cell) await this.#discard(cell)
    }
  }

  async #discardIdle(cell: OpenCell): Promise<void> {
    if (cell.listeners.size === 0) await this.#discard(cell)
  }

  async #discard(cell: OpenCell): Promise<void> {
    this.#open.delete(cell)
    await cell.close()
  }

  async #openCell(kind: CellKind): Promise<OpenCell> {
    const cell = await openCell(this.#maker, kind)
    this.#open.add(cell)
    void cell.gone.then(() => this.#open.delete(cell))
    return cell
  }
}
