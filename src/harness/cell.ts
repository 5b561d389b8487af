import type { Readable, Writable } from 'node:stream'
import path from 'node:path'
import { isJsonObject } from '../base/json.ts'
import type { AgentLine, Brief, CellInput } from '../base/protocol.ts'
import { type Agents, openPlane } from './call.ts'
import { carryOut } from './carry-out.ts'
import { parseJson } from '../base/fields.ts'
import { drained, flushLines, type LineWriter, lineSplitter, writeLine } from './lines.ts'

/** A process that runs many briefs at once. What one run does, or how it fails, never touches another. */
export interface Cell {
  writer: LineWriter
  running: Map<string, AbortController>
  agents: Agents
  runsFolder: string
  /** Where to say that a line could not be understood. */
  log: Writable
}

/** Serves start and abort lines until the input ends; runs that are under way then still come to their end. */
export function serveCell(cell: Cell, input: Readable): void {
  input.setEncoding('utf8')
  input.on(
    'data',
    lineSplitter((line) => obey(cell, line)),
  )
  writeLine(cell.writer, { ready: true })
}

/** The line's content, or null for what is neither a start nor an abort. */
export function cellInput(line: string): CellInput | null {
  try {
    const value = parseJson(line)
    if (!isJsonObject(value) || typeof value.run !== 'string') return null
    if (value.abort === true) return { run: value.run, abort: true }
    return isBrief(value.start) ? { run: value.run, start: value.start } : null
  } catch {
    return null
  }
}

/** The service writes briefs by the same type, so only the version and the outline are looked at. */
function isBrief(value: unknown): value is Brief {
  return isJsonObject(value) && value.v === 1 && isJsonObject(value.task) && isJsonObject(value.service)
}

function obey(cell: Cell, line: string): void {
  const input = cellInput(line)
  if (input === null) cell.log.write('a line that is neither a start nor an abort was left out\n')
  else if ('abort' in input) cell.running.get(input.run)?.abort()
  else if (cell.running.has(input.run)) cell.log.write(`run ${input.run} is already under way\n`)
  else void startRun(cell, input.run, input.start)
}

async function startRun(cell: Cell, id: string, brief: Brief): Promise<void> {
  const abort = new AbortController()
  cell.running.set(id, abort)
  try {
    // What a run has said leaves before what it asks for, so that the log tells both in that order.
    const plane = openPlane(cell.agents, brief.service, abort.signal, () => flushLines(cell.writer))
    const folder = path.join(cell.runsFolder, encodeURIComponent(id).replaceAll('.', '%2E'))
    const emit = (line: AgentLine) => writeLine(cell.writer, { run: id, ...line })
    const emitAndDrain = (line: AgentLine) => {
      emit(line)
      return drained(cell.writer)
    }
    await carryOut({ brief, plane, folder, emit, emitAndDrain })
  } catch (error) {
    writeLine(cell.writer, {
      run: id,
      error: `agent failed: ${error instanceof Error ? error.message : String(error)}`,
    })
  } finally {
    cell.running.delete(id)
  }
}
