import type { Json } from '../base/json.ts'
import type { Brief } from '../contract/agent-protocol.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { CellExit } from '../sandbox/driver.ts'
import { RunEndedError } from '../events/append-events.ts'
import type { NewEvent } from '../events/event-types.ts'
import type { PipePlane } from '../http/pipe-plane.ts'
import { parseAgentLine, MAX_ARTIFACTS, type NewArtifact } from './parse-agent-line.ts'
import { createPipeRequestHandler } from './pipe-requests.ts'
import type { CellListener, AgentCell } from './agent-cell.ts'
import type { TaskRun } from './task-run.ts'
import { RunLog } from './run-log.ts'

/** How a run came to its end, before anybody judged it. */
export interface RunOutcome {
  end: RunEnd
  artifacts: NewArtifact[]
  unwrittenEvents: NewEvent[]
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
const MAX_LINES = 200_000
const MAX_OUTPUT_CHARS = 64 * 1024 * 1024
/** What is wrong with an agent shows in the first ones; all of them would be a flood of our own. */
const MAX_REFUSALS_LOGGED = 100
/** Of one run together: all that its cell's own folder could hold. They wait in memory for its end. */
const MAX_ARTIFACT_BYTES_PER_RUN = 128 * 1024 * 1024
/** Characters that wait for the log; beyond it the agent's pipe is left unread. */
const MAX_BACKLOG_CHARS = 4 * 1024 * 1024

/** Gives the agent its brief and listens until it has an output, fails, runs out of time or is ended from outside. */
export async function runAgentSession(
  place: SessionContext,
  run: TaskRun,
  cell: AgentCell,
  brief: Brief,
): Promise<RunOutcome> {
  const { ctx } = place
  const artifacts: NewArtifact[] = []
  const log = new RunLog(ctx, run, logDelay(ctx, cell))
  run.flushLog = () => flushWhenRead(log)
  const told = await new Promise<RunEnd>((resolve) => {
    void log.failed.then((error) => resolve(lostLogEnd(run, error)))
    cell.start(run.taskId, brief, createCellListener(place, { run, cell, log, artifacts, end: resolve }))
    void run.over.whenAborted.then(() => resolve({ kind: 'ended' }))
    void run.workingTime.whenElapsed(run.constraints.max_runtime_s * 1000).then(() => resolve({ kind: 'timeout' }))
  })
  run.workingTime.stop()
  // What it still says would keep the log busy, and the end waits for the log.
  cell.listeners.delete(run.taskId)
  return { end: told, artifacts, unwrittenEvents: await log.close() }
}

/**
 * The bundled harness speaks in steps, and the next word after a step is often the last one: what it says may wait as
 * long as nobody notices. Of a program that we do not know a line waits half as long as a commit takes.
 */
function logDelay({ store }: Ctx, { kind }: AgentCell): () => number {
  return kind === 'custom' ? () => Math.min(store.commitMs() / 2, 4) : () => 20
}

/** Nothing more can be written: the run is over, or it has to be. */
function lostLogEnd(run: TaskRun, error: unknown): RunEnd {
  if (error instanceof RunEndedError) return { kind: 'ended' }
  run.failure ??= { reason: 'sandbox_failed', message: 'what the agent said could not be stored' }
  return { kind: 'error', message: '' }
}

/** Where the agent's lines lead to. */
interface SessionContext {
  ctx: Ctx
  /** Answers what the agent asks by its pipe. */
  answerPipe: PipePlane<TaskRun>
}

interface AgentSession {
  run: TaskRun
  cell: AgentCell
  log: RunLog
  artifacts: NewArtifact[]
  end: (told: RunEnd) => void
}

function createCellListener(
  { ctx, answerPipe }: SessionContext,
  { run, cell, log, artifacts, end }: AgentSession,
): CellListener {
  const answer = createPipeRequestHandler(answerPipe, run, cell)
  const said = { lines: 0, size: 0, files: 0, refused: 0 }
  /** False: it was too much. */
  const count = (length: number) => {
    said.size += length
    const enough = ++said.lines > MAX_LINES || said.size > MAX_OUTPUT_CHARS
    if (enough) end({ kind: 'flooded' })
    return !enough
  }
  const keeps = (artifact: NewArtifact) => {
    said.files += artifact.size
    const isKept = artifacts.length < MAX_ARTIFACTS && said.files <= MAX_ARTIFACT_BYTES_PER_RUN
    if (isKept) artifacts.push(artifact)
    return isKept
  }
  const refuse = (why: string) => {
    if (++said.refused <= MAX_REFUSALS_LOGGED) ctx.world.log.warn({ task: run.taskId, why }, 'agent line refused')
  }
  return {
    onExit: (exit) => end({ kind: 'crashed', exit }),
    onLine(line, length) {
      const heard = parseAgentLine(line, length)
      const kept = heard.kind === 'artifact' && keeps(heard.artifact) ? heard.artifact.content.length : 0
      const isAnswered = heard.kind === 'ask' && cell.kind !== 'custom'
      if (!count(isAnswered ? 0 : length - kept)) return
      if (heard.kind === 'event') {
        log.push(heard.event, heard.size)
        if (log.backlog > MAX_BACKLOG_CHARS) pauseUntilFlushed(cell, log)
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
async function flushWhenRead(log: RunLog): Promise<void> {
  await new Promise(setImmediate)
  await log.flush()
}

function pauseUntilFlushed(cell: AgentCell, log: RunLog): void {
  cell.pause()
  void log.flush().finally(() => cell.resume())
}
