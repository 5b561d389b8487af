import { type CellKind, type CellMaker, type OpenCell, openCell } from './cells.ts'

/** A shared cell is replaced after so many runs, so that nothing that leaks adds up. */
const MOST_RUNS = 20_000
/** They share a cell's memory, and whatever ends the cell ends all of them. */
const MOST_AT_ONCE = 200
/** To start a process holds everybody up for some milliseconds: first the run that took a cell begins in it. */
const RESTOCK_MS = 25
/** Projects that have a cell of their own ready; the one that was idle for longest gives way. */
const MOST_SHARED = 16

/**
 * Cells on stock. Runs that execute no code share a cell of their project; all others get one of their own, which
 * dies with them. Never two projects in one cell.
 */
export class CellPool {
  readonly #maker: CellMaker
  readonly #warm = new Map<CellKind, Promise<OpenCell>[]>()
  readonly #shared = new Map<string, Promise<OpenCell>>()
  /** The one lent last at the end. */
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
    return this.#lend(await this.#take(kind))
  }

  #lend(cell: OpenCell): OpenCell {
    cell.lent++
    if (this.#open.delete(cell)) this.#open.add(cell)
    return cell
  }

  async #take(kind: CellKind): Promise<OpenCell> {
    const stocked = this.#warm.get(kind)?.shift()
    setTimeout(() => this.warm(kind), RESTOCK_MS).unref()
    const cell = await stocked?.catch(() => null)
    // One that died on the shelf is no reason to fail the task.
    return cell && this.#open.has(cell) ? cell : this.#openCell(kind)
  }

  /** The project's shared cell. */
  async share(projectId: string): Promise<OpenCell> {
    const known = this.#shared.get(projectId)
    const cell = await known?.catch(() => null)
    if (known !== this.#shared.get(projectId)) return this.share(projectId)
    if (cell && this.#usable(cell)) return this.#lend(cell)
    if (cell) this.retire(cell)
    const next = this.#takeFor(projectId)
    this.#shared.set(projectId, next)
    // Whoever waits for it hears of a failure; the next run tries again.
    next.catch(() => this.#shared.get(projectId) === next && this.#shared.delete(projectId))
    if (cell) await this.#discardIdle(cell)
    await this.#makeRoom()
    return next
  }

  /** Whether the project's shared cell can take a run this moment. */
  hasReady(projectId: string): boolean {
    for (const cell of this.#open) if (cell.sharedBy === projectId && this.#usable(cell)) return true
    return false
  }

  /** Whether a cell of the kind waits for a run of its own. */
  hasStock(kind: CellKind): boolean {
    for (const cell of this.#open) if (cell.kind === kind && cell.lent === 0 && cell.sharedBy === null) return true
    return false
  }

  /** What there is now: ready for the first run that comes, kept for its project's next, or at work. */
  census(): { kind: CellKind; state: 'warm' | 'kept' | 'busy' }[] {
    return [...this.#open].map(({ kind, lent, sharedBy }) => ({
      kind,
      state: lent > 0 ? 'busy' : sharedBy === null ? 'warm' : 'kept',
    }))
  }

  /** Lent before anybody else can see it, so that it cannot make room for itself. */
  async #takeFor(projectId: string): Promise<OpenCell> {
    const cell = await this.own('harness')
    cell.sharedBy = projectId
    return cell
  }

  /** Gives a shared cell no new runs; it dies with its last one. */
  retire(cell: OpenCell): void {
    if (cell.sharedBy !== null) this.#shared.delete(cell.sharedBy)
    cell.sharedBy = null
  }

  /** A run has left its cell; an own cell dies with it, and a shared one that was replaced with its last run. */
  async leave(cell: OpenCell, runId: string): Promise<void> {
    cell.listeners.delete(runId)
    cell.lent--
    await this.#discardIdle(cell)
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled([...this.#warm.values()].flat())
    await Promise.all([...this.#open].map((cell) => this.#discard(cell)))
  }

  #usable(cell: OpenCell): boolean {
    return this.#open.has(cell) && cell.carried < MOST_RUNS && cell.lent < MOST_AT_ONCE
  }

  async #makeRoom(): Promise<void> {
    for (const cell of this.#open) {
      if (this.#shared.size <= MOST_SHARED) return
      if (cell.sharedBy === null || cell.lent > 0) continue
      this.retire(cell)
      await this.#discard(cell)
    }
  }

  async #discardIdle(cell: OpenCell): Promise<void> {
    if (cell.lent === 0 && cell.sharedBy === null) await this.#discard(cell)
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
