import { setTimeout } from 'node:timers/promises'
import { isJsonObject, type Json } from '../../platform/base/json.ts'
import { tryParseJsonObject } from '../../platform/base/json-fields.ts'
import { type ProgramFiles, type ProgramSetup, SETUP_LENGTH_CHARACTERS } from '../../platform/contract/program-setup.ts'
import type { RunningProgram, WedgeProgram } from '../../platform/ctx/program-starter.ts'
import { DEFAULT_CELL_LIMITS } from '../sandbox/cgroup/cell-limits.ts'
import type { CellLimits, SandboxCell, SandboxDriver } from '../sandbox/driver.ts'

const MAX_PROGRAMS = 16
const MAX_PROGRAMS_PER_PROJECT = 8

/** How long a program may take to write its files. */
const FINISH_TIMEOUT_MS = 2_000

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
  start(program: WedgeProgram, onLine: (line: string) => void): RunningProgram | null {
    const { projectId, dir, script, args, setup } = program
    const ofProject = [...this.#running.values()].filter((id) => id === projectId)
    const isFull = this.#running.size >= MAX_PROGRAMS || ofProject.length >= MAX_PROGRAMS_PER_PROJECT
    if (this.#isClosed || isFull) return null
    const folder = this.#driver.stageFolder(dir)
    const cell = this.#driver.start({
      profile: 'sealed',
      command: ['node', ...(setup === null ? [] : this.#preload()), script, ...args],
      agentDir: this.#agentDir,
      customDir: folder.path,
      socket: null,
      limits: PROGRAM_LIMITS,
    })
    const end = createEndReader(onLine)
    cell.onLine(setup === null ? onLine : (line) => end.onLine(line))
    if (setup !== null) writeSetup(cell, setup)
    this.#running.set(cell, projectId)
    const exited = cell.exited.finally(() => {
      this.#running.delete(cell)
      folder.remove()
    })
    return {
      write: (line) => void cell.write(line),
      kill: () => cell.kill(),
      exited,
      async finish() {
        cell.closeInput()
        await Promise.race([exited, setTimeout(FINISH_TIMEOUT_MS, null, { ref: false })])
        await cell.kill()
        return end.files()
      },
    }
  }

  /** Loads the program that reads the setup before the script. */
  #preload(): string[] {
    return ['--require', `${this.#driver.agentDirInside(this.#agentDir)}/program-setup.cjs`]
  }

  /** Ends every program; no other one is started afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#running.keys()].map((cell) => cell.kill()))
  }
}

function writeSetup(cell: SandboxCell, setup: ProgramSetup): void {
  const text = JSON.stringify(setup)
  cell.write(String(Buffer.byteLength(text)).padStart(SETUP_LENGTH_CHARACTERS))
  cell.write(text)
}

/** Passes lines on, except the last one, which has the files of the program. */
function createEndReader(onLine: (line: string) => void) {
  let files: ProgramFiles | null = null
  return {
    files: () => files,
    onLine(line: string) {
      const end = line.startsWith('{"program_files":') ? tryParseJsonObject(line) : null
      if (end) files = readFiles(end.program_files)
      else onLine(line)
    },
  }
}

/** The program is not trusted: only texts by relative paths are files. */
function readFiles(value: Json | undefined): ProgramFiles | null {
  if (!isJsonObject(value)) return null
  const files: ProgramFiles = {}
  for (const [path, content] of Object.entries(value)) {
    if (typeof content !== 'string' || path.startsWith('/') || path.split('/').includes('..')) return null
    files[path] = content
  }
  return files
}
