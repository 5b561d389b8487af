import type { RunningProgram, WedgeProgram } from '../ctx/program-starter.ts'
import { DEFAULT_CELL_LIMITS } from '../sandbox/cell-limits.ts'
import type { CellLimits, SandboxCell, SandboxDriver } from '../sandbox/driver.ts'

const MAX_PROGRAMS = 16
const MAX_PROGRAMS_PER_PROJECT = 8

const PROGRAM_LIMITS: CellLimits = {
  ...DEFAULT_CELL_LIMITS,
  // A result with images is one line.
  output_line_bytes: 4 * 1024 * 1024,
  stderr_bytes: 4096,
}

/** The programs of wedges that run now, each in a sealed cell of its own. */
export class WedgePrograms {
  readonly #driver: SandboxDriver
  readonly #agentDir: string
  readonly #running = new Map<SandboxCell, string>()
  #isClosed = false

  constructor(driver: SandboxDriver, agentDir: string) {
    this.#driver = driver
    this.#agentDir = agentDir
  }

  /** Null if too many programs are running. */
  start({ projectId, dir, script, args }: WedgeProgram, onLine: (line: string) => void): RunningProgram | null {
    const ofProject = [...this.#running.values()].filter((id) => id === projectId)
    const isFull = this.#running.size >= MAX_PROGRAMS || ofProject.length >= MAX_PROGRAMS_PER_PROJECT
    if (this.#isClosed || isFull) return null
    const folder = this.#driver.stageFolder(dir)
    const cell = this.#driver.start({
      profile: 'sealed',
      command: ['node', script, ...args],
      agentDir: this.#agentDir,
      customDir: folder.path,
      socket: null,
      limits: PROGRAM_LIMITS,
    })
    cell.onLine(onLine)
    this.#running.set(cell, projectId)
    const exited = cell.exited.finally(() => {
      this.#running.delete(cell)
      folder.remove()
    })
    return { write: (line) => void cell.write(line), kill: () => cell.kill(), exited }
  }

  /** Ends every program; no other one is started afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#running.keys()].map((cell) => cell.kill()))
  }
}
