import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { objectIn } from '../base/fields.ts'
import type { JsonObject } from '../base/json.ts'
import type { AgentLine, Brief } from '../base/protocol.ts'
import { silentEnd } from '../base/silent-end.ts'
import { collectFiles } from './artifacts.ts'
import { cellInput } from './cell.ts'
import { home, killGroup, minimalEnvironment } from './child.ts'
import { drained, type LineWriter, lineSplitter, writeLine } from './lines.ts'

/** A program that speaks the agent protocol, where it runs and where it leaves its files. */
export type Custom = { program: string; args: string[]; dir: string; out: string }

/** How long a program may linger after its last line, or its children after its end. */
const GRACE_MS = 2000
/** Of what the program wrote to stderr, the end is kept. */
const MOST_COMPLAINT = 8192

/** The one run of a keeper: what the program said last is held back until its files are collected. */
type Kept = { run: string; child: ChildProcess | null; last: JsonObject | null; unreadable: number }

export function customFrom(words: string[]): Custom {
  const split = words.indexOf('--')
  const [program, ...args] = split === -1 ? [] : words.slice(split + 1)
  if (program === undefined) throw new Error('usage: harness --keep [--dir folder] [--out folder] -- program …')
  const options = words.slice(0, split)
  const dir = option(options, '--dir', home())
  return { program, args, dir, out: option(options, '--out', path.join(home(), 'out')) }
}

/** Waits for the one start line, runs the program on its brief and resolves when all that it left is handed over. */
export function keep(custom: Custom, input: Readable, writer: LineWriter, log: Writable): Promise<void> {
  const kept: Kept = { run: '', child: null, last: null, unreadable: 0 }
  mkdirSync(custom.out, { recursive: true })
  writeLine(writer, { ready: true })
  return new Promise((resolve) => {
    const obey = lineSplitter((line) => {
      const order = cellInput(line)
      if (order === null) return
      if ('start' in order && kept.run === '') {
        kept.run = order.run
        void runProgram(custom, kept, order.start, writer, log).then(resolve)
      } else if ('abort' in order) {
        if (kept.child) killGroup(kept.child)
        else resolve()
      }
    })
    input.setEncoding('utf8')
    input.on('data', obey)
    // The input ends only with the service itself, and the program may not outlive it.
    const leave = () => (kept.child ? killGroup(kept.child) : resolve())
    input.once('end', leave)
    process.once('SIGTERM', leave)
  })
}

async function runProgram(custom: Custom, kept: Kept, brief: Brief, writer: LineWriter, log: Writable): Promise<void> {
  const tagged = async (line: AgentLine) => {
    writeLine(writer, { ...line, run: kept.run })
    await drained(writer)
  }
  const end = await endOfProgram(custom, kept, brief, writer)
  if (kept.unreadable > 0) log.write(`${kept.unreadable} lines of the agent were not JSON objects and were left out\n`)
  await collectFiles(custom.out, tagged).catch((error: unknown) => log.write(`files were lost: ${String(error)}\n`))
  writeLine(writer, { ...(kept.last ?? { error: end }), run: kept.run })
  await drained(writer)
}

/** Resolves with a sentence on how the program ended; it only matters if the program said nothing final itself. */
function endOfProgram(custom: Custom, kept: Kept, brief: Brief, writer: LineWriter): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(custom.program, custom.args, {
      cwd: custom.dir,
      env: minimalEnvironment(),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    })
    kept.child = child
    const relay = lineSplitter((line) => relayLine(kept, line, writer))
    child.once('error', (error) => resolve(`the agent could not be started: ${error.message}`))
    child.stdin.on('error', () => {})
    child.stdin.end(`${JSON.stringify(brief)}\n`)
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (chunk: string) => relayChunk(kept, relay, chunk, child.stdout, writer))
    let complaint = ''
    child.stderr.setEncoding('utf8')
    child.stderr.on('data', (chunk: string) => (complaint = (complaint + chunk).slice(-MOST_COMPLAINT)))
    child.once('exit', () => {
      killGroup(child)
      setTimeout(() => [child.stdout, child.stderr].forEach((stream) => stream.destroy()), GRACE_MS).unref()
    })
    child.once('close', (code, signal) => {
      relay('\n')
      resolve(silentEnd(signal ?? `exit code ${code}`, complaint))
    })
  })
}

function relayChunk(kept: Kept, relay: (chunk: string) => void, chunk: string, from: Readable, writer: LineWriter) {
  try {
    relay(chunk)
  } catch (error) {
    kept.last ??= { error: error instanceof Error ? `the agent failed: ${error.message}` : 'the agent failed' }
    if (kept.child) killGroup(kept.child)
  }
  // A flooding program waits for the service instead of filling this process.
  if (!writer.stream.writableNeedDrain) return
  from.pause()
  writer.stream.once('drain', () => from.resume())
}

function relayLine(kept: Kept, line: string, writer: LineWriter): void {
  if (line === '' || kept.last !== null) return
  const said = objectIn(line)
  if (said === null) {
    kept.unreadable++
  } else if ('output' in said || 'error' in said) {
    kept.last = said
    const { child } = kept
    if (child) setTimeout(() => killGroup(child), GRACE_MS).unref()
  } else {
    writeLine(writer, { ...said, run: kept.run })
  }
}

function option(options: string[], name: string, otherwise: string): string {
  const at = options.indexOf(name)
  return at === -1 ? otherwise : (options[at + 1] ?? otherwise)
}
