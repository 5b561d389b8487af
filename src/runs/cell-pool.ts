import { type CellKind, type AgentCellOptions, type AgentCell, openAgentCell } from './agent-cell.ts'

/** A shared cell is replaced after so many runs, so that nothing that leaks adds up. */
const MAX_RUNS_PER_CELL = 20_000
/** They share a cell's memory, and whatever ends the cell ends all of them. */
const MAX_CONCURRENT_RUNS_PER_CELL = 200
/** To start a process holds everybody up for some milliseconds: first the run that took a cell begins in it. */
const RESTOCK_DELAY_MS = 25
/** Projects that have a cell of their own ready; the one that was idle for longest gives way. */
const MAX_SHARED_CELLS = 16

/**
 * Cells on stock. Runs that execute no code share a cell of their project; all others get one of their own, which
 * dies with them. Never two projects in one cell.
 */
export class CellPool {
  readonly #maker: AgentCellOptions
  readonly #warm = new Map<CellKind, Promise<AgentCell>[]>()
  readonly #shared = new Map<string, Promise<AgentCell>>()
  /** The one lent last at the end. */
  readonly #open = new Set<AgentCell>()
  #closed = false

  constructor(maker: AgentCellOptions) {
    this.#maker = maker
  }

  /** A custom agent replaces the harness for every task. */
  get usesCustomAgent(): boolean {
    return this.#maker.ctx.config.agentCommand !== null
  }

  /** Starts the cells that the next runs will need. */
  warmUp(kind: CellKind): void {
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
  async acquireOwn(kind: CellKind): Promise<AgentCell> {
    return this.#lend(await this.#take(kind))
  }

  #lend(cell: AgentCell): AgentCell {
    cell.activeRuns++
    if (this.#open.delete(cell)) this.#open.add(cell)
    return cell
  }

  async #take(kind: CellKind): Promise<AgentCell> {
    const stocked = this.#warm.get(kind)?.shift()
    setTimeout(() => this.warmUp(kind), RESTOCK_DELAY_MS).unref()
    const cell = await stocked?.catch(() => null)
    // One that died on the shelf is no reason to fail the task.
    return cell && this.#open.has(cell) ? cell : this.#openCell(kind)
  }

  /** The project's shared cell. */
  async acquireShared(projectId: string): Promise<AgentCell> {
    const known = this.#shared.get(projectId)
    const cell = await known?.catch(() => null)
    if (known !== this.#shared.get(projectId)) return this.acquireShared(projectId)
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
  hasSharedCell(projectId: string): boolean {
    for (const cell of this.#open) if (cell.sharedProjectId === projectId && this.#usable(cell)) return true
    return false
  }

  /** Whether a cell of the kind waits for a run of its own. */
  hasWarmCell(kind: CellKind): boolean {
    for (const cell of this.#open)
      if (cell.kind === kind && cell.activeRuns === 0 && cell.sharedProjectId === null) return true
    return false
  }

  /** What there is now: ready for the first run that comes, kept for its project's next, or at work. */
  listCells(): { kind: CellKind; state: 'warm' | 'kept' | 'busy' }[] {
    return [...this.#open].map(({ kind, activeRuns: lent, sharedProjectId: sharedBy }) => ({
      kind,
      state: lent > 0 ? 'busy' : sharedBy === null ? 'warm' : 'kept',
    }))
  }

  /** Lent before anybody else can see it, so that it cannot make room for itself. */
  async #takeFor(projectId: string): Promise<AgentCell> {
    const cell = await this.acquireOwn('harness')
    cell.sharedProjectId = projectId
    return cell
  }

  /** Gives a shared cell no new runs; it dies with its last one. */
  retire(cell: AgentCell): void {
    if (cell.sharedProjectId !== null) this.#shared.delete(cell.sharedProjectId)
    cell.sharedProjectId = null
  }

  /** A run has left its cell; an own cell dies with it, and a shared one that was replaced with its last run. */
  async release(cell: AgentCell, runId: string): Promise<void> {
    cell.listeners.delete(runId)
    cell.activeRuns--
    await this.#discardIdle(cell)
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled([...this.#warm.values()].flat())
    await Promise.all([...this.#open].map((cell) => this.#discard(cell)))
  }

  #usable(cell: AgentCell): boolean {
    return (
      this.#open.has(cell) && cell.startedRuns < MAX_RUNS_PER_CELL && cell.activeRuns < MAX_CONCURRENT_RUNS_PER_CELL
    )
  }

  async #makeRoom(): Promise<void> {
    for (const cell of this.#open) {
      if (this.#shared.size <= MAX_SHARED_CELLS) return
      if (cell.sharedProjectId === null || cell.activeRuns > 0) continue
      this.retire(cell)
      await this.#discard(cell)
    }
  }

  async #discardIdle(cell: AgentCell): Promise<void> {
    if (cell.activeRuns === 0 && cell.sharedProjectId === null) await this.#discard(cell)
  }

  async #discard(cell: AgentCell): Promise<void> {
    this.#open.delete(cell)
    await cell.close()
  }

  async #openCell(kind: CellKind): Promise<AgentCell> {
    const cell = await openAgentCell(this.#maker, kind)
    this.#open.add(cell)
    void cell.exited.then(() => this.#open.delete(cell))
    return cell
  }
}
