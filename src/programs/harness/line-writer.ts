import type { Writable } from 'node:stream'

export interface LineWriter {
  stream: Writable
  waiting: string[]
}

/**
 * Queues a line; all lines of one turn of the event loop are sent with one write, which is most of the cost in a cell
 * with many runs. The `run` field is inserted into the JSON text, because copying the object costs as much as writing
 * it. A line of a run has at least one field.
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

/** Resolves when all queued lines have been written to the pipe. */
export async function drainLines(writer: LineWriter): Promise<void> {
  flushLines(writer)
  await new Promise<void>((resolve) => {
    writer.stream.write('', () => resolve())
  })
}
