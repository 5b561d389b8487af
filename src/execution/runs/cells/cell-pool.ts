import { type AgentProgram, findDeploymentProgram, fitsWarmCell } from './agent-program.ts'
import { type CellKind, type AgentCellOptions, type AgentCell, openAgentCell } from './agent-cell.ts'

/** A shared cell is replaced after this many runs, so that leaks do not add up. */
const MAX_RUNS_PER_CELL = 20_000
/** The runs share the memory of the cell, and they all fail if the cell exits. */
const MAX_CONCURRENT_RUNS_PER_CELL = 200
/** Starting a process blocks for some milliseconds, so the run that took a cell starts first. */
const RESTOCK_DELAY_MS = 25
/** The number of projects with a shared cell; beyond it, the cell that was idle longest is closed. */
const MAX_SHARED_CELLS = 16

/**
 * Keeps cells ready for runs. Runs that execute no code share one cell per project; all other runs get their own cell,
 * which is closed after the run. Two projects never share a cell.
 */
export class CellPool {
  readonly #options: AgentCellOptions
  readonly #warm = new Map<CellKind, Promise<AgentCell>[]>()
  readonly #shared = new Map<string, Promise<AgentCell>>()
  /** In order of use; the cell that was used last is at the end. */
  readonly #open = new Set<AgentCell>()
  #closed = false

  constructor(options: AgentCellOptions) {
    this.#options = options
  }

  /** Starts the cells that the next runs will need. */
  warmUp(kind: CellKind): void {
    const warmCells = this.#warm.get(kind) ?? []
    this.#warm.set(kind, warmCells)
    while (warmCells.length < this.#options.ctx.config.pool && !this.#closed) {
      const cell = this.#openWarmCell(kind)
      // The run that takes the cell gets the error; until then it is not unhandled.
      cell.catch(() => {})
      warmCells.push(cell)
    }
  }

  /** A cell for a single run. A custom agent that is not the usual one of the deployment has no warm cells. */
  async acquireOwn(kind: CellKind, program: AgentProgram | null = null): Promise<AgentCell> {
    const isWarm = program === null || fitsWarmCell(this.#options.ctx.config, program)
    return this.#use(await (isWarm ? this.#take(kind) : this.#openCell(kind, program)))
  }

  #use(cell: AgentCell): AgentCell {
    cell.activeRuns++
    if (this.#open.delete(cell)) this.#open.add(cell)
    return cell
  }

  async #take(kind: CellKind): Promise<AgentCell> {
    const warmCell = this.#warm.get(kind)?.shift()
    setTimeout(() => this.warmUp(kind), RESTOCK_DELAY_MS).unref()
    const cell = await warmCell?.catch(() => null)
    // If the waiting cell has exited, the task gets a new one.
    return cell && this.#open.has(cell) ? cell : this.#openWarmCell(kind)
  }

  /** The project's shared cell. */
  async acquireShared(projectId: string): Promise<AgentCell> {
    const known = this.#shared.get(projectId)
    const cell = await known?.catch(() => null)
    if (known !== this.#shared.get(projectId)) return this.acquireShared(projectId)
    if (cell && this.#canTakeRun(cell)) return this.#use(cell)
    if (cell) this.retire(cell)
    const next = this.#takeForProject(projectId)
    this.#shared.set(projectId, next)
    // The runs that wait for the cell get the error; the next run tries again.
    next.catch(() => this.#shared.get(projectId) === next && this.#shared.delete(projectId))
    if (cell) await this.#discardIdle(cell)
    await this.#closeIdleCells()
    return next
  }

  /** Whether the shared cell of the project can take a run now. */
  hasSharedCell(projectId: string): boolean {
    for (const cell of this.#open) if (cell.sharedProjectId === projectId && this.#canTakeRun(cell)) return true
    return false
  }

  /** Whether an unused cell of this kind is ready. */
  hasWarmCell(kind: CellKind): boolean {
    for (const cell of this.#open)
      if (cell.kind === kind && cell.activeRuns === 0 && cell.sharedProjectId === null) return true
    return false
  }

  /** All cells: `warm` is unused, `kept` waits for the next run of its project, `busy` has runs. */
  listCells(): { kind: CellKind; state: 'warm' | 'kept' | 'busy' }[] {
    return [...this.#open].map(({ kind, activeRuns, sharedProjectId }) => ({
      kind,
      state: activeRuns > 0 ? 'busy' : sharedProjectId === null ? 'warm' : 'kept',
    }))
  }

  /** The cell counts as used before other runs can see it, so that it is not closed as idle. */
  async #takeForProject(projectId: string): Promise<AgentCell> {
    const cell = await this.acquireOwn('harness')
    cell.sharedProjectId = projectId
    return cell
  }

  /** Gives a shared cell no new runs; it is closed after its last run. */
  retire(cell: AgentCell): void {
    if (cell.sharedProjectId !== null) this.#shared.delete(cell.sharedProjectId)
    cell.sharedProjectId = null
  }

  /** Ends the use of a cell by a run. A cell that no further run can use is closed. */
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

  #canTakeRun(cell: AgentCell): boolean {
    return (
      this.#open.has(cell) && cell.startedRuns < MAX_RUNS_PER_CELL && cell.activeRuns < MAX_CONCURRENT_RUNS_PER_CELL
    )
  }

  async #closeIdleCells(): Promise<void> {
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

  #openWarmCell(kind: CellKind): Promise<AgentCell> {
    return this.#openCell(kind, kind === 'custom' ? findDeploymentProgram(this.#options.ctx.config) : null)
  }

  async #openCell(kind: CellKind, program: AgentProgram | null): Promise<AgentCell> {
    const cell = await openAgentCell(this.#options, kind, program)
    this.#open.add(cell)
    void cell.exited.then(() => this.#open.delete(cell))
    return cell
  }
}
