import type { Readable, Writable } from 'node:stream'
import path from 'node:path'
import { tryParseJsonObject } from '../../platform/base/json-fields.ts'
import { isJsonObject } from '../../platform/base/json.ts'
import { createLineSplitter } from '../../platform/base/lines.ts'
import { LazyAbort } from '../../platform/base/lazy-abort.ts'
import { errorMessage } from '../../platform/base/error-message.ts'
import type { AgentLine, Brief, CellInput, PipeRequest } from '../../platform/contract/agent-protocol.ts'
import { receivePlaneLine, createPlaneClient, type PlaneClient } from './plane-client.ts'
import { runBrief } from './run-brief.ts'
import { drainLines, type LineWriter, writeJsonLine } from './line-writer.ts'

/** A process that runs many briefs at once. The failure of one run does not affect the others. */
export interface HarnessCell {
  writer: LineWriter
  running: Map<string, RunningBrief>
  runsFolder: string
  /** Gets messages about lines that could not be read. */
  log: Writable
}

/** A run in progress and the handle that aborts it. */
export type RunningBrief = { plane: PlaneClient; abort: LazyAbort }

/** Handles lines until the input ends, which means that the service is gone; then all runs are aborted. */
export function serveHarnessCell(cell: HarnessCell, input: Readable): void {
  const splitter = createLineSplitter(Number.POSITIVE_INFINITY, (line) => handleInputLine(cell, line))
  input.on('data', (chunk: Buffer) => splitter.push(chunk))
  input.once('end', () => abortAllRuns(cell))
  writeJsonLine(cell.writer, { ready: true })
}

const ABORTED = 'the run was aborted'

export function abortAllRuns({ running }: Pick<HarnessCell, 'running'>): void {
  for (const { abort } of running.values()) abort.abort(ABORTED)
}

/** Null if the line is neither a start, an abort nor an answer. */
export function parseCellInput(line: string): CellInput | null {
  const value = tryParseJsonObject(line)
  return value && typeof value.run === 'string' && isCellInput(value) ? value : null
}

/** The service writes its lines with the same types, so only the version and the main fields are checked. */
function isCellInput(value: object): value is CellInput {
  if ('start' in value) return isBrief(value.start)
  return 'answer' in value || ('abort' in value && value.abort === true)
}

function isBrief(value: unknown): value is Brief {
  return isJsonObject(value) && value.v === 1 && isJsonObject(value.task) && isJsonObject(value.service)
}

function handleInputLine(cell: HarnessCell, line: string): void {
  const input = parseCellInput(line)
  if (input === null) return void cell.log.write('ignored a line that is neither a start, an abort nor an answer\n')
  const running = cell.running.get(input.run)
  // An answer for a finished run is dropped.
  if ('answer' in input) return running && receivePlaneLine(running.plane, input)
  if ('abort' in input) running?.abort.abort(ABORTED)
  else if (running) cell.log.write(`run ${input.run} is already in progress\n`)
  else void startBrief(cell, input.run, input.start)
}

async function startBrief(cell: HarnessCell, id: string, brief: Brief): Promise<void> {
  const abort = new LazyAbort()
  const emit = (line: AgentLine | PipeRequest) => writeJsonLine(cell.writer, line, id)
  const plane = createPlaneClient(brief.service, abort, emit)
  cell.running.set(id, { plane, abort })
  try {
    const folder = path.join(cell.runsFolder, encodeURIComponent(id).replaceAll('.', '%2E'))
    const emitAndDrain = (line: AgentLine) => {
      emit(line)
      return drainLines(cell.writer)
    }
    const { step = 0, called, returned } = brief.transcript?.logged ?? {}
    const logged = { step, called: new Set(called), returned: new Set(returned) }
    await runBrief({ brief, plane, pendingGateCheck: null, logged, folder, emit, emitAndDrain })
  } catch (error) {
    emit({ error: `agent failed: ${errorMessage(error)}` })
  } finally {
    cell.running.delete(id)
  }
}
