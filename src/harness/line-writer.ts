import type { Writable } from 'node:stream'

/** More than any honest line needs (an artifact of 10 MiB in base64), so that a flood cannot fill the memory. */
const MAX_LINE_CHARS = 32 * 1024 * 1024

/** Cuts a text that arrives in pieces into lines. What stands after the last line end is never handed on. */
export function createTextLineSplitter(onLine: (line: string) => void): (chunk: string) => void {
  let rest = ''
  return (chunk) => {
    let from = 0
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', from)) {
      const line = rest + chunk.slice(from, end)
      rest = ''
      from = end + 1
      onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
    }
    rest += from === 0 ? chunk : chunk.slice(from)
    if (rest.length > MAX_LINE_CHARS) throw new Error('a line is longer than 32 MiB')
  }
}

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
