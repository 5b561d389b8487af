import { objectIn } from '../base/fields.ts'
import type { JsonObject } from '../base/json.ts'
import { type Brief, CELL_AGENT_DIR, type Told } from '../base/protocol.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { Cell, CellExit, CellLimits, CellSpec, Driver } from '../sandbox/driver.ts'
import { type Door, type Hall, NO_DOOR, openDoor } from './cell-door.ts'

/** What a run hears from its cell. */
export interface Listener {
  line(line: JsonObject, length: number): void
  exit(exit: CellExit): void
}

/** A started cell. */
export interface OpenCell {
  id: string
  kind: CellKind
  /** The socket as the agent inside sees it, if it has one. */
  socketInside: string | null
  listeners: Map<string, Listener>
  /** Resolves when the process is gone. */
  gone: Promise<unknown>
  /** How many runs it has carried. */
  carried: number
  /** How many runs have it now; counted by the pool from before they start. */
  lent: number
  /** The project whose runs are put into it, while it is the one that they share. */
  sharedBy: string | null
  start(runId: string, brief: Brief, listener: Listener): void
  abort(runId: string): void
  /** False: it waits in memory, and more shall wait for room. */
  answer(runId: string, ask: number, word: Told): boolean
  whenRoom(call: () => void): void
  /** A flood waits in the pipe until the log has caught up. */
  pause(): void
  resume(): void
  close(): Promise<void>
}

export type CellKind = 'harness' | 'workshop' | 'custom'

/** Everything that starting a cell needs. */
export interface CellMaker extends Hall {
  ctx: Ctx
  driver: Driver
  /** Folder with the bundled harness. */
  agentDir: string
}

/** Starts a cell and answers when the harness inside says that it is ready. */
export async function openCell(maker: CellMaker, kind: CellKind): Promise<OpenCell> {
  const { ctx, driver } = maker
  const id = Buffer.from(ctx.world.random(9)).toString('base64url')
  const door = kind === 'custom' ? await openDoor(maker, driver, ctx.config.dataDir, id) : NO_DOOR
  try {
    return await ready(driver.start(specOf(maker, kind, door.socket)), id, kind, door)
  } catch (error) {
    door.close()
    throw error
  }
}

function ready(cell: Cell, id: string, kind: CellKind, door: Door): Promise<OpenCell> {
  const listeners = new Map<string, Listener>()
  let ended: CellExit | null = null
  const open: OpenCell = {
    id,
    kind,
    socketInside: door.inside,
    listeners,
    gone: cell.exited,
    carried: 0,
    lent: 0,
    sharedBy: null,
    start(runId, brief, listener) {
      // Nobody would tell the run of an end that is over.
      if (ended) return listener.exit(ended)
      listeners.set(runId, listener)
      open.carried++
      cell.write(JSON.stringify({ run: runId, start: brief }))
    },
    abort: (runId) => void cell.write(JSON.stringify({ run: runId, abort: true })),
    answer: (run, answer, word) => cell.write(joined({ run, answer }, word)),
    whenRoom: (call) => cell.whenRoom(call),
    pause: () => cell.pause(),
    resume: () => cell.resume(),
    close: async () => {
      await cell.kill()
      door.close()
    },
  }
  return new Promise((resolve, reject) => {
    cell.onLine((line) => {
      const said = objectIn(line)
      if (said?.ready === true) return resolve(open)
      if (said && typeof said.run === 'string') listeners.get(said.run)?.line(said, line.length)
    })
    void cell.exited.then((exit) => {
      ended = exit
      door.close()
      reject(new Error(`the cell ended before it was ready: ${exit.stderr.slice(-500) || (exit.signal ?? exit.code)}`))
      for (const listener of listeners.values()) listener.exit(exit)
      listeners.clear()
    })
  })
}

/** The text of both: a copy with the fields of both costs as much as the text. Neither is ever empty. */
const joined = (head: object, rest: object): string =>
  `${JSON.stringify(head).slice(0, -1)},${JSON.stringify(rest).slice(1)}`

function specOf({ ctx, agentDir, driver }: CellMaker, kind: CellKind, socket: string | null): CellSpec {
  const harness = `${driver.agentDirInside(agentDir) || CELL_AGENT_DIR}/harness.cjs`
  const base = { agentDir, socket }
  const { agentCommand, agentDir: customDir } = ctx.config
  if (kind === 'harness') return { ...base, profile: 'sealed', command: ['node', harness], limits: SHARED }
  if (kind === 'workshop' || !agentCommand) {
    return { ...base, profile: 'workshop', command: ['node', harness], limits: OWN }
  }
  const dir = customDir ? ['--dir', driver.customDirInside(customDir)] : []
  const command = ['node', harness, '--keep', ...dir, '--', 'sh', '-c', agentCommand]
  return { ...base, profile: 'workshop', command, ...(customDir && { customDir }), limits: OWN }
}

const OUTPUT = { output_line_bytes: 16 * 1024 * 1024, stderr_bytes: 16 * 1024 }
/** A cell that many runs share, for as long as it lives. */
const SHARED: CellLimits = { memory_mb: 1024, processes: 48, file_mb: 64, tmp_mb: 256, cpu_s: 0, ...OUTPUT }
/** A cell of one run. */
const OWN: CellLimits = { memory_mb: 512, processes: 64, file_mb: 64, tmp_mb: 128, cpu_s: 600, ...OUTPUT }
