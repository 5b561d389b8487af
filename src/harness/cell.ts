import type { Readable, Writable } from 'node:stream'
import path from 'node:path'
import { objectIn } from '../base/fields.ts'
import { isJsonObject } from '../base/json.ts'
import { LateAbort } from '../base/late-abort.ts'
import { messageOf } from '../base/message-of.ts'
import type { AgentLine, Brief, CellInput, PlaneAsk } from '../base/protocol.ts'
import { hearAnswer, openPlane, type Plane } from './call.ts'
import { carryOut } from './carry-out.ts'
import { drained, type LineWriter, lineSplitter, writeLine } from './lines.ts'

/** A process that runs many briefs at once. What one run does, or how it fails, never touches another. */
export interface Cell {
  writer: LineWriter
  running: Map<string, Running>
  runsFolder: string
  /** Where to say that a line could not be understood. */
  log: Writable
}

/** A run that is under way, and the handle that ends it. */
export type Running = { plane: Plane; abort: LateAbort }

/** Serves lines until the input ends: then nobody is left who could answer, and what still runs is aborted. */
export function serveCell(cell: Cell, input: Readable): void {
  input.setEncoding('utf8')
  input.on(
    'data',
    lineSplitter((line) => obey(cell, line)),
  )
  input.once('end', () => abortAll(cell))
  writeLine(cell.writer, { ready: true })
}

const ABORTED = 'the run was aborted'

export function abortAll({ running }: Pick<Cell, 'running'>): void {
  for (const { abort } of running.values()) abort.abort(ABORTED)
}

/** The line's content, or null for what is neither a start, an abort nor an answer. */
export function cellInput(line: string): CellInput | null {
  const value = objectIn(line)
  return value && typeof value.run === 'string' && isOrder(value) ? value : null
}

/** The service writes its lines by the same types, so only versions and outlines are looked at. */
function isOrder(value: object): value is CellInput {
  if ('start' in value) return isBrief(value.start)
  return 'answer' in value || ('abort' in value && value.abort === true)
}

function isBrief(value: unknown): value is Brief {
  return isJsonObject(value) && value.v === 1 && isJsonObject(value.task) && isJsonObject(value.service)
}

function obey(cell: Cell, line: string): void {
  const input = cellInput(line)
  if (input === null)
    return void cell.log.write('a line that is neither a start, an abort nor an answer was left out\n')
  const running = cell.running.get(input.run)
  // An answer to a run that is over is nobody's.
  if ('answer' in input) return running && hearAnswer(running.plane, input)
  if ('abort' in input) running?.abort.abort(ABORTED)
  else if (running) cell.log.write(`run ${input.run} is already under way\n`)
  else void startRun(cell, input.run, input.start)
}

async function startRun(cell: Cell, id: string, brief: Brief): Promise<void> {
  const abort = new LateAbort()
  const say = (line: AgentLine | PlaneAsk) => writeLine(cell.writer, line, id)
  const plane = openPlane(brief.service, abort, say)
  cell.running.set(id, { plane, abort })
  try {
    const folder = path.join(cell.runsFolder, encodeURIComponent(id).replaceAll('.', '%2E'))
    const emitAndDrain = (line: AgentLine) => {
      say(line)
      return drained(cell.writer)
    }
    await carryOut({ brief, plane, gate: null, folder, emit: say, emitAndDrain })
  } catch (error) {
    say({ error: `agent failed: ${messageOf(error)}` })
  } finally {
    cell.running.delete(id)
  }
}
