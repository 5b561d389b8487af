import path from 'node:path'
import { PassThrough } from 'node:stream'
import type { JsonObject } from '../../src/base/json.ts'
import type { Brief } from '../../src/base/protocol.ts'
import { serveCell } from '../../src/harness/cell.ts'

export type TestCell = {
  start: (run: string, brief: Brief) => void
  abort: (run: string) => void
  say: (line: string) => void
  /** All lines of the run, once its last one is there. */
  linesOf: (run: string) => Promise<JsonObject[]>
  /** Resolves with the first line that fits. */
  seen: (fits: (line: JsonObject) => boolean) => Promise<JsonObject>
  log: () => string
}

/** The cell of the harness, fed and read through streams of this process. */
export function openCell(folder: string): TestCell {
  const input = new PassThrough()
  const output = new PassThrough()
  const log = new PassThrough()
  const lines: JsonObject[] = []
  const watchers = new Set<() => void>()
  let rest = ''
  output.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) lines.push(JSON.parse(part))
    for (const watcher of watchers) watcher()
  })
  const until = <T>(look: () => T | undefined) =>
    new Promise<T>((resolve) => {
      const watcher = () => {
        const found = look()
        if (found === undefined) return
        watchers.delete(watcher)
        resolve(found)
      }
      watchers.add(watcher)
      watcher()
    })
  serveCell(
    {
      writer: { stream: output, waiting: [] },
      running: new Map(),
      agents: new Map(),
      runsFolder: path.join(folder, 'runs'),
      log,
    },
    input,
  )
  return {
    say: (line) => input.write(`${line}\n`),
    start: (run, start) => input.write(`${JSON.stringify({ run, start })}\n`),
    abort: (run) => input.write(`${JSON.stringify({ run, abort: true })}\n`),
    linesOf: async (run) => {
      await until(() => lines.find((line) => line.run === run && ('output' in line || 'error' in line)))
      return lines.filter((line) => line.run === run)
    },
    seen: (fits) => until(() => lines.find(fits)),
    log: () => String(log.read() ?? ''),
  }
}

export async function runOnce(folder: string, brief: Brief): Promise<JsonObject[]> {
  const cell = openCell(folder)
  cell.start('r1', brief)
  return cell.linesOf('r1')
}

/** The events of one type, as their data. */
export function dataOf(lines: JsonObject[], type: string): unknown[] {
  return lines.filter((line) => line.event === type).map((line) => line.data)
}
