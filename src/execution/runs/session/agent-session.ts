import { countRunBytes } from '../../../identity/limits/storage-usage.ts'
import { type Brief, EXIT_GRACE_MS, MAX_ARTIFACT_MB } from '../../../platform/contract/agent-protocol.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { RunEndedError } from '../../../work/events/append-events.ts'
import { artifactStorage } from '../../../work/files/artifact-objects.ts'
import type { PipePlane } from '../../../platform/http/pipe-plane.ts'
import { parseAgentLine, MAX_ARTIFACTS, type NewArtifact } from './parse-agent-line.ts'
import { createPipeRequestHandler } from '../requests/pipe-requests.ts'
import type { CellListener, AgentCell } from '../cells/agent-cell.ts'
import type { TaskRun } from './task-run.ts'
import type { RunEnd, RunEnding } from './run-ending.ts'
import type { RunLog, UnwrittenLog } from './run-log.ts'
import { recordRunEvent, runtimeLeftMs } from './run-usage.ts'
import { keepCheckpoint } from '../resume/run-state.ts'

/** The result of an agent session; `finish-run.ts` turns it into the end of the task. */
export interface RunOutcome {
  end: RunEnd
  artifacts: NewArtifact[]
  unwritten: UnwrittenLog
}

/** An agent that writes more lines or characters fails. Accepted files are not counted here. */
const MAX_LINES = 200_000
const MAX_OUTPUT_CHARS = 64 * 1024 * 1024
/** The first refused lines show what is wrong with an agent; logging all of them would flood the log. */
const MAX_REFUSALS_LOGGED = 100
/** All files of one run, which wait in memory for its end. The folder of a cell holds as much. */
const MAX_ARTIFACT_BYTES_PER_RUN = 128 * 1024 * 1024
/** When more characters wait to be stored, the pipe of the agent is not read. */
const MAX_BACKLOG_CHARS = 4 * 1024 * 1024

/** Sends the brief to the agent and reads its lines until it gives an output, fails, times out or is ended. */
export async function runAgentSession(
  context: SessionContext,
  run: TaskRun,
  cell: AgentCell,
  brief: Brief,
): Promise<RunOutcome> {
  const { facts, ending, log, workingTime } = run
  const artifacts: NewArtifact[] = []
  void log.failed.then((error) => ending.endWith(toLostLogEnd(ending, error)))
  void ending.whenFinished.then(() => abortAfterGrace(cell, facts.cellRunId))
  cell.start(facts.cellRunId, brief, createCellListener(context, { run, cell, artifacts }))
  void workingTime.whenElapsed(runtimeLeftMs(run)).then(() => ending.endWith({ kind: 'timeout' }))
  const end = await ending.whenEnded
  // Further lines would keep the log busy, and the end of the run waits for the log.
  cell.listeners.delete(facts.cellRunId)
  const unwritten = await log.close()
  workingTime.stop()
  return { end: ending.toFinalEnd(end), artifacts, unwritten }
}

/**
 * Like a program that has written its output, one that has called `finish` gets a moment to exit by itself. The harness ends
 * it at the abort, and then delivers its files.
 */
function abortAfterGrace(cell: AgentCell, runId: string): void {
  setTimeout(() => cell.listeners.has(runId) && cell.abort(runId), EXIT_GRACE_MS).unref()
}

/** Events can no longer be stored: the run is over, or it must fail. */
function toLostLogEnd(ending: RunEnding, error: unknown): RunEnd {
  if (error instanceof RunEndedError) return { kind: 'ended' }
  ending.failure ??= { reason: 'sandbox_failed', message: 'the events of the agent could not be stored' }
  return { kind: 'error', message: '' }
}

/** What the session of an agent needs. */
interface SessionContext {
  ctx: Ctx
  /** Answers the requests that the agent sends over its pipe. */
  answerPipe: PipePlane<TaskRun>
}

interface AgentSession {
  run: TaskRun
  cell: AgentCell
  artifacts: NewArtifact[]
}

function createCellListener({ ctx, answerPipe }: SessionContext, { run, cell, artifacts }: AgentSession): CellListener {
  const { facts, usage, ending, log, stored, parking, model } = run
  const answer = createPipeRequestHandler(answerPipe, run, cell)
  const maxArtifactMb = MAX_ARTIFACT_MB[artifactStorage(ctx)]
  const counts = { lines: 0, size: 0, files: 0, refused: 0 }
  /** False if the agent wrote too much. */
  const count = (length: number) => {
    counts.size += length
    const isTooMuch = ++counts.lines > MAX_LINES || counts.size > MAX_OUTPUT_CHARS
    if (isTooMuch) ending.endWith({ kind: 'flooded' })
    return !isTooMuch
  }
  const tryKeep = (artifact: NewArtifact) => {
    counts.files += artifact.size
    const isKept =
      artifacts.length < MAX_ARTIFACTS &&
      counts.files <= MAX_ARTIFACT_BYTES_PER_RUN &&
      countRunBytes(ctx.config, usage, artifact.content.length)
    if (isKept) artifacts.push(artifact)
    parking.hasUnstoredFiles ||= isKept
    return isKept
  }
  const refuse = (why: string) => {
    if (++counts.refused <= MAX_REFUSALS_LOGGED) ctx.world.log.warn({ task: facts.taskId, why }, 'agent line refused')
  }
  return {
    onExit: (exit) => ending.endWith({ kind: 'crashed', exit }),
    onLine(line, length) {
      const message = parseAgentLine(line, length, maxArtifactMb)
      const kept = message.kind === 'artifact' && tryKeep(message.artifact) ? message.artifact.content.length : 0
      const isAnswered = message.kind === 'ask' && cell.kind !== 'custom'
      if (!count(isAnswered ? 0 : length - kept)) return
      if (message.kind === 'event') {
        if (model.toolLog?.acceptAgentEvent(message.event) === false) return
        recordRunEvent(ctx.config, run, message.event, message.size)
        if (log.backlog > MAX_BACKLOG_CHARS) pauseUntilFlushed(cell, log)
      } else if (message.kind === 'turn') {
        if (cell.kind === 'custom') return refuse('only the bundled agent writes a transcript')
        stored.transcriptChars += message.size
        log.record(message.entry, message.size)
      } else if (message.kind === 'checkpoint') {
        if (cell.kind !== 'custom') return refuse('only a custom agent writes checkpoints')
        keepCheckpoint(run, message.checkpoint)
      } else if (message.kind === 'ask') {
        // A custom agent does not read answers from its pipe: it sends requests over its socket.
        if (cell.kind === 'custom') refuse('a custom agent must send requests over its socket')
        else answer(message.ask, length)
      } else if (message.kind === 'refused') {
        refuse(message.why)
      } else if (message.kind !== 'artifact') {
        ending.endWith(message)
      }
    },
  }
}

function pauseUntilFlushed(cell: AgentCell, log: RunLog): void {
  cell.pause()
  void log.flush().finally(() => cell.resume())
}
