import { countRunBytes } from '../../../identity/limits/storage-usage.ts'
import type { Json } from '../../../platform/base/json.ts'
import { type Brief, EXIT_GRACE_MS, MAX_ARTIFACT_MB } from '../../../platform/contract/agent-protocol.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import type { CellExit } from '../../sandbox/driver.ts'
import { RunEndedError } from '../../../work/events/append-events.ts'
import type { NewEvent } from '../../../work/events/event-types.ts'
import { artifactStorage } from '../../../work/files/artifact-objects.ts'
import type { PipePlane } from '../../../platform/http/pipe-plane.ts'
import { ToolLog } from '../../models/tool-log.ts'
import { parseAgentLine, MAX_ARTIFACTS, type NewArtifact } from './parse-agent-line.ts'
import { createPipeRequestHandler } from '../requests/pipe-requests.ts'
import type { CellListener, AgentCell } from '../cells/agent-cell.ts'
import type { TaskRun } from './task-run.ts'
import { RunLog, type UnwrittenLog } from './run-log.ts'
import { keepCheckpoint, saveEntries } from '../resume/run-state.ts'

/** The result of an agent session; `finish-run.ts` turns it into the end of the task. */
export interface RunOutcome {
  end: RunEnd
  artifacts: NewArtifact[]
  unwritten: UnwrittenLog
}

/** How the session ended. Only the first end counts. */
export type RunEnd =
  | { kind: 'output'; output: Json }
  | { kind: 'error'; message: string }
  | { kind: 'crashed'; exit: CellExit }
  | { kind: 'flooded' }
  | { kind: 'storage_full' }
  | { kind: 'timeout' }
  | { kind: 'ended' }

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
  const { ctx } = context
  const artifacts: NewArtifact[] = []
  const log = new RunLog(ctx, run, (tx, entries) => saveEntries(tx, run, entries), logDelay(ctx, cell))
  run.flushLog = () => flushWhenRead(log)
  run.saveSoon = () => log.markChanged()
  run.finish = (output) => finishSession(run, cell, output)
  const runEnd = await new Promise<RunEnd>((resolve) => {
    if (cell.kind === 'custom') run.model.toolLog = new ToolLog((event) => pushToolEvent(ctx, run, log, event, resolve))
    void log.failed.then((error) => resolve(lostLogEnd(run, error)))
    cell.start(run.cellRunId, brief, createCellListener(context, { run, cell, log, artifacts, end: resolve }))
    void run.over.whenAborted.then(() => resolve({ kind: 'ended' }))
    void run.workingTime
      .whenElapsed(run.constraints.max_runtime_s * 1000 - run.workedMs)
      .then(() => resolve({ kind: 'timeout' }))
  })
  // Further lines would keep the log busy, and the end of the run waits for the log.
  cell.listeners.delete(run.cellRunId)
  const unwritten = await log.close()
  run.workingTime.stop()
  return { end: withFinishedOutput(run, runEnd), artifacts, unwritten }
}

/**
 * Like a program that has written its output, one that has called `finish` gets a moment to exit by itself. The harness ends
 * it at the abort, and then delivers its files.
 */
function finishSession(run: TaskRun, cell: AgentCell, output: Json): boolean {
  if (run.finishedWith) return false
  run.finishedWith = { output }
  setTimeout(() => cell.listeners.has(run.cellRunId) && cell.abort(run.cellRunId), EXIT_GRACE_MS).unref()
  return true
}

/** An output that `finish` has accepted counts, whatever ends the program afterwards, unless the run itself is over. */
function withFinishedOutput({ finishedWith }: TaskRun, end: RunEnd): RunEnd {
  return finishedWith && end.kind !== 'ended' ? { kind: 'output', ...finishedWith } : end
}

/**
 * How long an event may wait for others before a commit. The bundled harness writes in steps, and the next line is often
 * the last one, so its events wait 20 ms. Events of other programs wait half as long as a commit takes.
 */
function logDelay({ store }: Ctx, { kind }: AgentCell): () => number {
  return kind === 'custom' ? () => Math.min(store.commitMs() / 2, 4) : () => 20
}

/** An event that the model proxy records counts like one that the agent writes. */
function pushToolEvent(
  { config }: Ctx,
  run: TaskRun,
  log: RunLog,
  event: NewEvent,
  end: (runEnd: RunEnd) => void,
): void {
  const size = JSON.stringify(event.data).length
  if (countRunBytes(config, run, size)) log.push(event, size)
  else end({ kind: 'storage_full' })
}

/** Events can no longer be stored: the run is over, or it must fail. */
function lostLogEnd(run: TaskRun, error: unknown): RunEnd {
  if (error instanceof RunEndedError) return { kind: 'ended' }
  run.failure ??= { reason: 'sandbox_failed', message: 'the events of the agent could not be stored' }
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
  log: RunLog
  artifacts: NewArtifact[]
  end: (runEnd: RunEnd) => void
}

function createCellListener(
  { ctx, answerPipe }: SessionContext,
  { run, cell, log, artifacts, end }: AgentSession,
): CellListener {
  const answer = createPipeRequestHandler(answerPipe, run, cell)
  const maxArtifactMb = MAX_ARTIFACT_MB[artifactStorage(ctx)]
  const counts = { lines: 0, size: 0, files: 0, refused: 0 }
  /** False if the agent wrote too much. */
  const count = (length: number) => {
    counts.size += length
    const isTooMuch = ++counts.lines > MAX_LINES || counts.size > MAX_OUTPUT_CHARS
    if (isTooMuch) end({ kind: 'flooded' })
    return !isTooMuch
  }
  const tryKeep = (artifact: NewArtifact) => {
    counts.files += artifact.size
    const isKept =
      artifacts.length < MAX_ARTIFACTS &&
      counts.files <= MAX_ARTIFACT_BYTES_PER_RUN &&
      countRunBytes(ctx.config, run, artifact.content.length)
    if (isKept) artifacts.push(artifact)
    run.hasUnstoredFiles ||= isKept
    return isKept
  }
  const refuse = (why: string) => {
    if (++counts.refused <= MAX_REFUSALS_LOGGED) ctx.world.log.warn({ task: run.taskId, why }, 'agent line refused')
  }
  return {
    onExit: (exit) => end({ kind: 'crashed', exit }),
    onLine(line, length) {
      const message = parseAgentLine(line, length, maxArtifactMb)
      const kept = message.kind === 'artifact' && tryKeep(message.artifact) ? message.artifact.content.length : 0
      const isAnswered = message.kind === 'ask' && cell.kind !== 'custom'
      if (!count(isAnswered ? 0 : length - kept)) return
      if (message.kind === 'event') {
        if (run.model.toolLog?.acceptAgentEvent(message.event) === false) return
        if (!countRunBytes(ctx.config, run, message.size)) return end({ kind: 'storage_full' })
        log.push(message.event, message.size)
        if (log.backlog > MAX_BACKLOG_CHARS) pauseUntilFlushed(cell, log)
      } else if (message.kind === 'turn') {
        if (cell.kind === 'custom') return refuse('only the bundled agent writes a transcript')
        run.stored.transcriptChars += message.size
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
        end(message)
      }
    },
  }
}

/** Waits until the lines before a request are read, so that their events are stored first. */
async function flushWhenRead(log: RunLog): Promise<void> {
  await new Promise(setImmediate)
  await log.flush()
}

function pauseUntilFlushed(cell: AgentCell, log: RunLog): void {
  cell.pause()
  void log.flush().finally(() => cell.resume())
}
