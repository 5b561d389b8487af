import type { Writable } from 'node:stream'

export interface LineWriter {
  stream: Writable
  waiting: string[]
}

/**
 * All lines of one turn of the event loop leave in one write: with many runs in a cell that is most of the cost. The
 * run that a line belongs to is put into its text: a copy of the line with one field more costs as much as the text. A
 * line of a run is never empty.
 */
export function writeJsonLine(writer: LineWriter, value: object, run?: string): void {
  const text = JSON.stringify(value)
  writer.waiting.push(run === undefined ? `${text}\n` : `{"run":${JSON.stringify(run)},${text.slice(1)}\n`)
  if (writer.waiting.length === 1) setImmediate(flushLines, writer)
}

function flushLines(writer: LineWriter): void {
  if (writer.waiting.length === 0) return
  const text = writer.waiting.join('')
  writer.waiting = []
  writer.stream.write(text)
}

/** Resolves once what was written has left this process. */
export async function drainLines(writer: LineWriter): Promise<void> {
  flushLines(writer)
  await new Promise<void>((resolve) => {
    writer.stream.write('', () => resolve())
  })
}
