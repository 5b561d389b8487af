import type { Readable, Writable } from 'node:stream'
import path from 'node:path'
import { tryParseJsonObject } from '../base/json-fields.ts'
import { isJsonObject } from '../base/json.ts'
import { createLineSplitter } from '../base/lines.ts'
import { LazyAbort } from '../base/lazy-abort.ts'
import { errorMessage } from '../base/error-message.ts'
import type { AgentLine, Brief, CellInput, PipeRequest } from '../contract/agent-protocol.ts'
import { receivePlaneLine, createPlaneClient, type PlaneClient } from './plane-client.ts'
import { runBrief } from './run-brief.ts'
import { drainLines, type LineWriter, writeJsonLine } from './line-writer.ts'

/** A process that runs many briefs at once. What one run does, or how it fails, never touches another. */
export interface HarnessCell {
  writer: LineWriter
  running: Map<string, RunningBrief>
  runsFolder: string
  /** Where to say that a line could not be understood. */
  log: Writable
}

/** A run that is under way, and the handle that ends it. */
export type RunningBrief = { plane: PlaneClient; abort: LazyAbort }

/** Serves lines until the input ends: then nobody is left who could answer, and what still runs is aborted. */
export function serveHarnessCell(cell: HarnessCell, input: Readable): void {
  const splitter = createLineSplitter(Number.POSITIVE_INFINITY, (line) => handleInputLine(cell, line))
  input.on('data', splitter.push)
  input.once('end', () => abortAllRuns(cell))
  writeJsonLine(cell.writer, { ready: true })
}

const ABORTED = 'the run was aborted'

export function abortAllRuns({ running }: Pick<HarnessCell, 'running'>): void {
  for (const { abort } of running.values()) abort.abort(ABORTED)
}

/** The line's content, or null for what is neither a start, an abort nor an answer. */
export function parseCellInput(line: string): CellInput | null {
  const value = tryParseJsonObject(line)
  return value && typeof value.run === 'string' && isCellInput(value) ? value : null
}

/** The service writes its lines by the same types, so only versions and outlines are looked at. */
function isCellInput(value: object): value is CellInput {
  if ('start' in value) return isBrief(value.start)
  return 'answer' in value || ('abort' in value && value.abort === true)
}

function isBrief(value: unknown): value is Brief {
  return isJsonObject(value) && value.v === 1 && isJsonObject(value.task) && isJsonObject(value.service)
}

function handleInputLine(cell: HarnessCell, line: string): void {
  const input = parseCellInput(line)
  if (input === null)
    return void cell.log.write('a line that is neither a start, an abort nor an answer was left out\n')
  const running = cell.running.get(input.run)
  // An answer to a run that is over is nobody's.
  if ('answer' in input) return running && receivePlaneLine(running.plane, input)
  if ('abort' in input) running?.abort.abort(ABORTED)
  else if (running) cell.log.write(`run ${input.run} is already under way\n`)
  else void startBrief(cell, input.run, input.start)
}

async function startBrief(cell: HarnessCell, id: string, brief: Brief): Promise<void> {
  const abort = new LazyAbort()
  const say = (line: AgentLine | PipeRequest) => writeJsonLine(cell.writer, line, id)
  const plane = createPlaneClient(brief.service, abort, say)
  cell.running.set(id, { plane, abort })
  try {
    const folder = path.join(cell.runsFolder, encodeURIComponent(id).replaceAll('.', '%2E'))
    const emitAndDrain = (line: AgentLine) => {
      say(line)
      return drainLines(cell.writer)
    }
    await runBrief({ brief, plane, pendingGateCheck: null, folder, emit: say, emitAndDrain })
  } catch (error) {
    say({ error: `agent failed: ${errorMessage(error)}` })
  } finally {
    cell.running.delete(id)
  }
}
