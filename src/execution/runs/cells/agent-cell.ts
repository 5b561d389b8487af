import { tryParseJsonObject } from '../../../platform/base/json-fields.ts'
import type { JsonObject } from '../../../platform/base/json.ts'
import { type Brief, CELL_AGENT_DIR, type PipeResponsePart } from '../../../platform/contract/agent-protocol.ts'
import type { Config } from '../../../platform/config/config.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import type { World } from '../../../platform/ctx/world.ts'
import type { SandboxCell, CellExit, CellLimits, CellSpec, SandboxDriver } from '../../sandbox/driver.ts'
import type { FilesFolder } from '../../sandbox/files-folder.ts'
import type { StagedFolder } from '../../sandbox/staging.ts'
import type { AgentProgram } from './agent-program.ts'
import { type CellSocket, type CellSocketHandler, NO_CELL_SOCKET, openCellSocket } from './cell-socket.ts'

/** Receives the lines of a run and the exit of its cell. */
export interface CellListener {
  onLine(line: JsonObject, length: number): void
  onExit(exit: CellExit): void
}

/** A running sandbox cell for one or more runs. */
export interface AgentCell {
  id: string
  kind: CellKind
  /** The path of the socket inside the cell; null if the cell has no socket. */
  socketPathInside: string | null
  /** The files of the runs in the cell. */
  files: FilesFolder | null
  listeners: Map<string, CellListener>
  /** Resolves when the process has exited. */
  exited: Promise<unknown>
  /** The number of runs that were started in the cell. */
  startedRuns: number
  /** The number of runs that use the cell now. The pool counts a run before it starts. */
  activeRuns: number
  /** The project whose runs share the cell; null if it takes no further shared runs. */
  sharedProjectId: string | null
  start(runId: string, brief: Brief, listener: CellListener): void
  abort(runId: string): void
  /** False when the pipe is full: the next part should wait for `whenDrained`. */
  reply(runId: string, ask: number, part: PipeResponsePart): boolean
  whenDrained(call: () => void): void
  /** Stops reading lines until `resume`, so that they wait in the pipe. */
  pause(): void
  resume(): void
  close(): Promise<void>
}

export type CellKind = 'harness' | 'workshop' | 'custom'

/** What is needed to start a cell. `svc doctor` starts one without a store. */
export interface CellOptions extends CellSocketHandler {
  ctx: { world: Pick<World, 'random'>; config: Pick<Config, 'dataDir'> }
  driver: SandboxDriver
  /** The folder of the bundled harness. */
  agentDir: string
}

export interface AgentCellOptions extends CellOptions {
  ctx: Ctx
}

/** Starts a cell and resolves when the harness inside is ready. A `custom` cell needs the program. */
export async function openAgentCell(
  options: CellOptions,
  kind: CellKind,
  program: AgentProgram | null = null,
): Promise<AgentCell> {
  const { ctx, driver } = options
  const id = Buffer.from(ctx.world.random(9)).toString('base64url')
  const socket = kind === 'custom' ? await openCellSocket(options, driver, ctx.config.dataDir, id) : NO_CELL_SOCKET
  let folder: StagedFolder | null = null
  try {
    // The folder itself, so a change reaches a running program; a copy if the user of the cell cannot read it.
    folder = program?.dir && program.isInWedge ? driver.stageFolder(program.dir) : null
    const staged = program && folder ? { ...program, dir: folder.path } : program
    const cell = driver.start(toCellSpec(options, kind, socket.path, staged))
    void cell.exited.then(() => folder?.remove())
    return await waitUntilReady(cell, id, kind, socket)
  } catch (error) {
    socket.close()
    folder?.remove()
    throw error
  }
}

function waitUntilReady(cell: SandboxCell, id: string, kind: CellKind, socket: CellSocket): Promise<AgentCell> {
  const listeners = new Map<string, CellListener>()
  let exitedWith: CellExit | null = null
  const open: AgentCell = {
    id,
    kind,
    socketPathInside: socket.pathInside,
    files: cell.files,
    listeners,
    exited: cell.exited,
    startedRuns: 0,
    activeRuns: 0,
    sharedProjectId: null,
    start(runId, brief, listener) {
      // The exit was reported before this run started, so report it to the run now.
      if (exitedWith) return listener.onExit(exitedWith)
      listeners.set(runId, listener)
      open.startedRuns++
      cell.write(JSON.stringify({ run: runId, start: brief }))
    },
    abort: (runId) => void cell.write(JSON.stringify({ run: runId, abort: true })),
    reply: (run, answer, part) => cell.write(joinJsonObjects({ run, answer }, part)),
    whenDrained: (call) => cell.whenDrained(call),
    pause: () => cell.pause(),
    resume: () => cell.resume(),
    close: async () => {
      await cell.kill()
      socket.close()
    },
  }
  return new Promise((resolve, reject) => {
    cell.onLine((line) => {
      const message = tryParseJsonObject(line)
      if (message?.ready === true) return resolve(open)
      if (message && typeof message.run === 'string') listeners.get(message.run)?.onLine(message, line.length)
    })
    void cell.exited.then((exit) => {
      exitedWith = exit
      socket.close()
      reject(new Error(`the cell ended before it was ready: ${exit.stderr.slice(-500) || (exit.signal ?? exit.code)}`))
      for (const listener of listeners.values()) listener.onExit(exit)
      listeners.clear()
    })
  })
}

/** Joins the JSON texts, because copying both objects costs as much as writing them. Both have at least one field. */
const joinJsonObjects = (head: object, rest: object): string =>
  `${JSON.stringify(head).slice(0, -1)},${JSON.stringify(rest).slice(1)}`

function toCellSpec(
  { agentDir, driver }: CellOptions,
  kind: CellKind,
  socket: string | null,
  program: AgentProgram | null,
): CellSpec {
  const harness = `${driver.agentDirInside(agentDir) || CELL_AGENT_DIR}/harness.cjs`
  const base = { agentDir, socket, hasFilesFolder: true } as const
  if (kind === 'harness') return { ...base, profile: 'sealed', command: ['node', harness], limits: SHARED_CELL_LIMITS }
  if (kind === 'workshop' || !program) {
    return { ...base, profile: 'workshop', command: ['node', harness], limits: OWN_CELL_LIMITS }
  }
  const { dir: customDir, command: agentCommand, memoryMb } = program
  const dir = customDir ? ['--dir', driver.customDirInside(customDir)] : []
  const hasLoopback = driver.canLoopback && socket !== null
  const forwarded = hasLoopback ? ['--socket', driver.socketPathInside(socket)] : []
  const command = ['node', harness, '--custom-agent', ...dir, ...forwarded, '--', 'sh', '-c', agentCommand]
  const limits = { ...CUSTOM_AGENT_LIMITS, memory_mb: memoryMb }
  const custom = { ...(customDir && { customDir }), hasLoopback, limits }
  return { ...base, profile: 'workshop', command, ...custom }
}

const OUTPUT_LIMITS = { output_line_bytes: 32 * 1024 * 1024, stderr_bytes: 16 * 1024 }
/** For a long-lived cell that many runs share. */
const SHARED_CELL_LIMITS: CellLimits = {
  memory_mb: 1024,
  processes: 48,
  open_files: 256,
  file_mb: 64,
  tmp_mb: 256,
  cpu_s: 0,
  ...OUTPUT_LIMITS,
}
/** For a cell of one run. */
const OWN_CELL_LIMITS: CellLimits = {
  memory_mb: 512,
  processes: 64,
  open_files: 256,
  file_mb: 64,
  tmp_mb: 128,
  cpu_s: 600,
  ...OUTPUT_LIMITS,
}
/** Frameworks for agents open hundreds of files at their start, and some reserve more than 512 MB. */
const CUSTOM_AGENT_LIMITS: Omit<CellLimits, 'memory_mb'> = { ...OWN_CELL_LIMITS, open_files: 1024 }
