import { tryParseJsonObject } from '../base/json-fields.ts'
import type { JsonObject } from '../base/json.ts'
import { type Brief, CELL_AGENT_DIR, type PipeResponsePart } from '../contract/agent-protocol.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { SandboxCell, CellExit, CellLimits, CellSpec, SandboxDriver } from '../sandbox/driver.ts'
import { type CellSocket, type CellSocketHandler, NO_CELL_SOCKET, openCellSocket } from './cell-socket.ts'

/** What a run hears from its cell. */
export interface CellListener {
  onLine(line: JsonObject, length: number): void
  onExit(exit: CellExit): void
}

/** A started cell. */
export interface AgentCell {
  id: string
  kind: CellKind
  /** The socket as the agent inside sees it, if it has one. */
  socketPathInside: string | null
  listeners: Map<string, CellListener>
  /** Resolves when the process is gone. */
  exited: Promise<unknown>
  /** How many runs it has carried. */
  startedRuns: number
  /** How many runs have it now; counted by the pool from before they start. */
  activeRuns: number
  /** The project whose runs are put into it, while it is the one that they share. */
  sharedProjectId: string | null
  start(runId: string, brief: Brief, listener: CellListener): void
  abort(runId: string): void
  /** False: it waits in memory, and more shall wait for room. */
  reply(runId: string, ask: number, word: PipeResponsePart): boolean
  whenDrained(call: () => void): void
  /** A flood waits in the pipe until the log has caught up. */
  pause(): void
  resume(): void
  close(): Promise<void>
}

export type CellKind = 'harness' | 'workshop' | 'custom'

/** Everything that starting a cell needs. */
export interface AgentCellOptions extends CellSocketHandler {
  ctx: Ctx
  driver: SandboxDriver
  /** Folder with the bundled harness. */
  agentDir: string
}

/** Starts a cell and answers when the harness inside says that it is ready. */
export async function openAgentCell(maker: AgentCellOptions, kind: CellKind): Promise<AgentCell> {
  const { ctx, driver } = maker
  const id = Buffer.from(ctx.world.random(9)).toString('base64url')
  const door = kind === 'custom' ? await openCellSocket(maker, driver, ctx.config.dataDir, id) : NO_CELL_SOCKET
  try {
    return await waitUntilReady(driver.start(toCellSpec(maker, kind, door.path)), id, kind, door)
  } catch (error) {
    door.close()
    throw error
  }
}

function waitUntilReady(cell: SandboxCell, id: string, kind: CellKind, door: CellSocket): Promise<AgentCell> {
  const listeners = new Map<string, CellListener>()
  let ended: CellExit | null = null
  const open: AgentCell = {
    id,
    kind,
    socketPathInside: door.pathInside,
    listeners,
    exited: cell.exited,
    startedRuns: 0,
    activeRuns: 0,
    sharedProjectId: null,
    start(runId, brief, listener) {
      // Nobody would tell the run of an end that is over.
      if (ended) return listener.onExit(ended)
      listeners.set(runId, listener)
      open.startedRuns++
      cell.write(JSON.stringify({ run: runId, start: brief }))
    },
    abort: (runId) => void cell.write(JSON.stringify({ run: runId, abort: true })),
    reply: (run, answer, word) => cell.write(joinJsonObjects({ run, answer }, word)),
    whenDrained: (call) => cell.whenDrained(call),
    pause: () => cell.pause(),
    resume: () => cell.resume(),
    close: async () => {
      await cell.kill()
      door.close()
    },
  }
  return new Promise((resolve, reject) => {
    cell.onLine((line) => {
      const said = tryParseJsonObject(line)
      if (said?.ready === true) return resolve(open)
      if (said && typeof said.run === 'string') listeners.get(said.run)?.onLine(said, line.length)
    })
    void cell.exited.then((exit) => {
      ended = exit
      door.close()
      reject(new Error(`the cell ended before it was ready: ${exit.stderr.slice(-500) || (exit.signal ?? exit.code)}`))
      for (const listener of listeners.values()) listener.onExit(exit)
      listeners.clear()
    })
  })
}

/** The text of both: a copy with the fields of both costs as much as the text. Neither is ever empty. */
const joinJsonObjects = (head: object, rest: object): string =>
  `${JSON.stringify(head).slice(0, -1)},${JSON.stringify(rest).slice(1)}`

function toCellSpec({ ctx, agentDir, driver }: AgentCellOptions, kind: CellKind, socket: string | null): CellSpec {
  const harness = `${driver.agentDirInside(agentDir) || CELL_AGENT_DIR}/harness.cjs`
  const base = { agentDir, socket }
  const { agentCommand, agentDir: customDir } = ctx.config
  if (kind === 'harness') return { ...base, profile: 'sealed', command: ['node', harness], limits: SHARED_CELL_LIMITS }
  if (kind === 'workshop' || !agentCommand) {
    return { ...base, profile: 'workshop', command: ['node', harness], limits: OWN_CELL_LIMITS }
  }
  const dir = customDir ? ['--dir', driver.customDirInside(customDir)] : []
  const command = ['node', harness, '--custom-agent', ...dir, '--', 'sh', '-c', agentCommand]
  return { ...base, profile: 'workshop', command, ...(customDir && { customDir }), limits: OWN_CELL_LIMITS }
}

const OUTPUT_LIMITS = { output_line_bytes: 16 * 1024 * 1024, stderr_bytes: 16 * 1024 }
/** A cell that many runs share, for as long as it lives. */
const SHARED_CELL_LIMITS: CellLimits = {
  memory_mb: 1024,
  processes: 48,
  file_mb: 64,
  tmp_mb: 256,
  cpu_s: 0,
  ...OUTPUT_LIMITS,
}
/** A cell of one run. */
const OWN_CELL_LIMITS: CellLimits = {
  memory_mb: 512,
  processes: 64,
  file_mb: 64,
  tmp_mb: 128,
  cpu_s: 600,
  ...OUTPUT_LIMITS,
}
