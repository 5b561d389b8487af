import type { Json } from '../base/json.ts'
import type { Brief } from '../base/protocol.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { CellExit } from '../sandbox/driver.ts'
import { RunOver } from '../events/append.ts'
import type { NewEvent } from '../events/types.ts'
import type { LineDoor } from '../http/lines.ts'
import { hear, MOST_ARTIFACTS, type NewArtifact } from './agent-lines.ts'
import { answering } from './asks.ts'
import type { Listener, OpenCell } from './cells.ts'
import type { Run } from './run.ts'
import { RunLog } from './run-log.ts'

/** How a run came to its end, before anybody judged it. */
export interface Outcome {
  told: RunEnd
  artifacts: NewArtifact[]
  unwritten: NewEvent[]
}

/** What the end was; the first one that is told counts. */
export type RunEnd =
  | { kind: 'output'; output: Json }
  | { kind: 'error'; message: string }
  | { kind: 'crashed'; exit: CellExit }
  | { kind: 'flooded' }
  | { kind: 'timeout' }
  | { kind: 'ended' }

/** An agent that says more than this, in lines or in characters, says nothing worth keeping. Files that are kept count apart. */
const MOST_LINES = 200_000
const MOST_SAID = 64 * 1024 * 1024
/** What is wrong with an agent shows in the first ones; all of them would be a flood of our own. */
const MOST_REFUSALS_LOGGED = 100
/** Of one run together: all that its cell's own folder could hold. They wait in memory for its end. */
const MOST_ARTIFACT_BYTES = 128 * 1024 * 1024
/** Characters that wait for the log; beyond it the agent's pipe is left unread. */
const MOST_BACKLOG = 4 * 1024 * 1024

/** Gives the agent its brief and listens until it has an output, fails, runs out of time or is ended from outside. */
export async function converse(place: Place, run: Run, cell: OpenCell, brief: Brief): Promise<Outcome> {
  const { ctx } = place
  const artifacts: NewArtifact[] = []
  const log = new RunLog(ctx, run, patienceWith(ctx, cell))
  run.flush = () => settled(log)
  const told = await new Promise<RunEnd>((resolve) => {
    void log.lost.then((error) => resolve(lostLog(run, error)))
    cell.start(run.taskId, brief, listener(place, { run, cell, log, artifacts, end: resolve }))
    void run.over.whenAborted.then(() => resolve({ kind: 'ended' }))
    void run.time.passed(run.constraints.max_runtime_s * 1000).then(() => resolve({ kind: 'timeout' }))
  })
  run.time.stop()
  // What it still says would keep the log busy, and the end waits for the log.
  cell.listeners.delete(run.taskId)
  return { told, artifacts, unwritten: await log.rest() }
}

/**
 * The bundled harness speaks in steps, and the next word after a step is often the last one: what it says may wait as
 * long as nobody notices. Of a program that we do not know a line waits half as long as a commit takes.
 */
function patienceWith({ store }: Ctx, { kind }: OpenCell): () => number {
  return kind === 'custom' ? () => Math.min(store.commitMs() / 2, 4) : () => 20
}

/** Nothing more can be written: the run is over, or it has to be. */
function lostLog(run: Run, error: unknown): RunEnd {
  if (error instanceof RunOver) return { kind: 'ended' }
  run.failure ??= { reason: 'sandbox_failed', message: 'what the agent said could not be stored' }
  return { kind: 'error', message: '' }
}

/** Where the agent's lines lead to. */
interface Place {
  ctx: Ctx
  /** Answers what the agent asks by its pipe. */
  door: LineDoor<Run>
}

interface Conversation {
  run: Run
  cell: OpenCell
  log: RunLog
  artifacts: NewArtifact[]
  end: (told: RunEnd) => void
}

function listener({ ctx, door }: Place, { run, cell, log, artifacts, end }: Conversation): Listener {
  const answer = answering(door, run, cell)
  const said = { lines: 0, size: 0, files: 0, refused: 0 }
  /** False: it was too much. */
  const count = (length: number) => {
    said.size += length
    const enough = ++said.lines > MOST_LINES || said.size > MOST_SAID
    if (enough) end({ kind: 'flooded' })
    return !enough
  }
  const keeps = (artifact: NewArtifact) => {
    said.files += artifact.size
    const isKept = artifacts.length < MOST_ARTIFACTS && said.files <= MOST_ARTIFACT_BYTES
    if (isKept) artifacts.push(artifact)
    return isKept
  }
  const refuse = (why: string) => {
    if (++said.refused <= MOST_REFUSALS_LOGGED) ctx.world.log.warn({ task: run.taskId, why }, 'agent line refused')
  }
  return {
    exit: (exit) => end({ kind: 'crashed', exit }),
    line(line, length) {
      const heard = hear(line, length)
      const kept = heard.kind === 'artifact' && keeps(heard.artifact) ? heard.artifact.content.length : 0
      const isAnswered = heard.kind === 'ask' && cell.kind !== 'custom'
      if (!count(isAnswered ? 0 : length - kept)) return
      if (heard.kind === 'event') {
        log.push(heard.event, heard.size)
        if (log.backlog > MOST_BACKLOG) holdBack(cell, log)
      } else if (heard.kind === 'ask') {
        // A program of somebody's own would not hear the answer: it asks over its socket.
        if (cell.kind === 'custom') refuse('a question that belongs on the socket')
        else answer(heard.ask, length)
      } else if (heard.kind === 'refused') {
        refuse(heard.why)
      } else if (heard.kind !== 'artifact') {
        end(heard)
      }
    },
  }
}

/** What the agent wrote before it asked is read before the answer is written. */
async function settled(log: RunLog): Promise<void> {
  await new Promise(setImmediate)
  await log.flush()
}

function holdBack(cell: OpenCell, log: RunLog): void {
  cell.pause()
  void log.flush().finally(() => cell.resume())
}
