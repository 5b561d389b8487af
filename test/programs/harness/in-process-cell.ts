import path from 'node:path'
import { PassThrough } from 'node:stream'
import type { JsonObject } from '../../../src/platform/base/json.ts'
import type { Brief, PipeRequest } from '../../../src/platform/contract/agent-protocol.ts'
import { serveHarnessCell } from '../../../src/programs/harness/harness-cell.ts'
import type { FakePlane } from './fake-plane.ts'

export type TestCell = {
  start: (run: string, brief: Brief) => void
  abort: (run: string) => void
  say: (line: string) => void
  /** Closes the input, as when the service ends. */
  end: () => void
  /** All lines of the run, after its last line has arrived. */
  linesOf: (run: string) => Promise<JsonObject[]>
  /** All lines so far. */
  said: () => JsonObject[]
  /** Resolves with the first line that matches. */
  seen: (matches: (line: JsonObject) => boolean) => Promise<JsonObject>
  log: () => string
}

/** A harness cell with streams of this process as stdin and stdout; the plane answers its requests. */
export function openTestCell(plane: FakePlane): TestCell {
  const input = new PassThrough()
  const output = new PassThrough()
  const log = new PassThrough()
  const lines: JsonObject[] = []
  const watchers = new Set<() => void>()
  let rest = ''
  output.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) receive(JSON.parse(part))
    for (const watcher of watchers) watcher()
  })
  const receive = (line: JsonObject) => {
    if (isPipeRequest(line))
      void plane.take(line, (answer) => input.write(`${JSON.stringify({ run: line.run, ...answer })}\n`))
    else lines.push(line)
  }
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
  serveHarnessCell(
    {
      writer: { stream: output, waiting: [] },
      running: new Map(),
      runsFolder: path.join(plane.folder, 'runs'),
      log,
    },
    input,
  )
  return {
    say: (line) => input.write(`${line}\n`),
    end: () => input.end(),
    start: (run, start) => input.write(`${JSON.stringify({ run, start })}\n`),
    abort: (run) => input.write(`${JSON.stringify({ run, abort: true })}\n`),
    linesOf: async (run) => {
      await until(() => lines.find((line) => line.run === run && ('output' in line || 'error' in line)))
      return lines.filter((line) => line.run === run)
    },
    said: () => lines,
    seen: (matches) => until(() => lines.find(matches)),
    log: () => String(log.read() ?? ''),
  }
}

export function isPipeRequest(line: JsonObject): line is JsonObject & PipeRequest {
  return 'ask' in line
}

export async function runOneBrief(plane: FakePlane, brief: Brief): Promise<JsonObject[]> {
  const cell = openTestCell(plane)
  cell.start('r1', brief)
  return cell.linesOf('r1')
}

/** The data of all events of one type. */
export function eventData(lines: JsonObject[], type: string): unknown[] {
  return lines.filter((line) => line.event === type).map((line) => line.data)
}
