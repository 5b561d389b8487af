import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { tryParseJsonObject } from '../base/json-fields.ts'
import type { JsonObject } from '../base/json.ts'
import { createLineSplitter, type LineSplitter } from '../base/lines.ts'
import type { AgentLine, Brief } from '../contract/agent-protocol.ts'
import { exitMessage } from '../contract/exit-message.ts'
import { emitArtifacts } from './artifacts.ts'
import { parseCellInput } from './harness-cell.ts'
import { homeFolder, killProcessGroup, minimalEnvironment } from './child-process.ts'
import { drainLines, type LineWriter, writeJsonLine } from './line-writer.ts'

/** A program that speaks the agent protocol, where it runs and where it leaves its files. */
export type CustomAgent = { program: string; args: string[]; dir: string; out: string }

/** How long a program may linger after its last line, or its children after its end. */
const EXIT_GRACE_MS = 2000
/** Enough for an artifact of 10 MiB in base64; a longer line would fill the memory of the cell. */
const MAX_LINE_BYTES = 32 * 1024 * 1024
/** Of what the program wrote to stderr, the end is kept. */
const MAX_STDERR_CHARS = 8192

/** The one run of a keeper: what the program said last is held back until its files are collected. */
type CustomAgentState = { run: string; child: ChildProcess | null; last: JsonObject | null; unreadable: number }

export function parseCustomAgentArguments(words: string[]): CustomAgent {
  const split = words.indexOf('--')
  const [program, ...args] = split === -1 ? [] : words.slice(split + 1)
  if (program === undefined) throw new Error('usage: harness --keep [--dir folder] [--out folder] -- program …')
  const options = words.slice(0, split)
  const dir = optionValue(options, '--dir', homeFolder())
  return { program, args, dir, out: optionValue(options, '--out', path.join(homeFolder(), 'out')) }
}

/** Waits for the one start line, runs the program on its brief and resolves when all that it left is handed over. */
export function runCustomAgent(custom: CustomAgent, input: Readable, writer: LineWriter, log: Writable): Promise<void> {
  const kept: CustomAgentState = { run: '', child: null, last: null, unreadable: 0 }
  mkdirSync(custom.out, { recursive: true })
  writeJsonLine(writer, { ready: true })
  return new Promise((resolve) => {
    const splitter = createLineSplitter(Number.POSITIVE_INFINITY, (line) => {
      const order = parseCellInput(line)
      if (order === null) return
      if ('start' in order && kept.run === '') {
        kept.run = order.run
        void runProgram(custom, kept, order.start, writer, log).then(resolve)
      } else if ('abort' in order) {
        if (kept.child) killProcessGroup(kept.child)
        else resolve()
      }
    })
    input.on('data', splitter.push)
    // The input ends only with the service itself, and the program may not outlive it.
    const leave = () => (kept.child ? killProcessGroup(kept.child) : resolve())
    input.once('end', leave)
    process.once('SIGTERM', leave)
  })
}

async function runProgram(
  custom: CustomAgent,
  kept: CustomAgentState,
  brief: Brief,
  writer: LineWriter,
  log: Writable,
): Promise<void> {
  const tagged = async (line: AgentLine) => {
    writeJsonLine(writer, { ...line, run: kept.run })
    await drainLines(writer)
  }
  const end = await waitForProgram(custom, kept, brief, writer)
  if (kept.unreadable > 0) log.write(`${kept.unreadable} lines of the agent were not JSON objects and were left out\n`)
  await emitArtifacts(custom.out, tagged).catch((error: unknown) => log.write(`files were lost: ${String(error)}\n`))
  writeJsonLine(writer, { ...(kept.last ?? { error: end }), run: kept.run })
  await drainLines(writer)
}

/** Resolves with a sentence on how the program ended; it only matters if the program said nothing final itself. */
function waitForProgram(
  custom: CustomAgent,
  kept: CustomAgentState,
  brief: Brief,
  writer: LineWriter,
): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(custom.program, custom.args, {
      cwd: custom.dir,
      env: minimalEnvironment(),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    })
    kept.child = child
    const splitter = createLineSplitter(MAX_LINE_BYTES, (line) => relayLine(kept, line, writer))
    child.once('error', (error) => resolve(`the agent could not be started: ${error.message}`))
    child.stdin.on('error', () => {})
    child.stdin.end(`${JSON.stringify(brief)}\n`)
    child.stdout.on('data', (chunk: Buffer) => relayChunk(kept, splitter, chunk, child.stdout, writer))
    let complaint = ''
    child.stderr.setEncoding('utf8')
    child.stderr.on('data', (chunk: string) => (complaint = (complaint + chunk).slice(-MAX_STDERR_CHARS)))
    child.once('exit', () => {
      killProcessGroup(child)
      setTimeout(() => [child.stdout, child.stderr].forEach((stream) => stream.destroy()), EXIT_GRACE_MS).unref()
    })
    child.once('close', (code, signal) => {
      relayLine(kept, splitter.rest(), writer)
      resolve(exitMessage(signal ?? `exit code ${code}`, complaint))
    })
  })
}

function relayChunk(kept: CustomAgentState, splitter: LineSplitter, chunk: Buffer, from: Readable, writer: LineWriter) {
  if (!splitter.push(chunk)) {
    kept.last ??= { error: 'the agent failed: a line is longer than 32 MiB' }
    if (kept.child) killProcessGroup(kept.child)
  }
  // A flooding program waits for the service instead of filling this process.
  if (!writer.stream.writableNeedDrain) return
  from.pause()
  writer.stream.once('drain', () => from.resume())
}

function relayLine(kept: CustomAgentState, line: string, writer: LineWriter): void {
  if (line.trim() === '' || kept.last !== null) return
  const said = tryParseJsonObject(line)
  if (said === null) {
    kept.unreadable++
  } else if ('output' in said || 'error' in said) {
    kept.last = said
    const { child } = kept
    if (child) setTimeout(() => killProcessGroup(child), EXIT_GRACE_MS).unref()
  } else {
    writeJsonLine(writer, { ...said, run: kept.run })
  }
}

function optionValue(options: string[], name: string, otherwise: string): string {
  const at = options.indexOf(name)
  return at === -1 ? otherwise : (options[at + 1] ?? otherwise)
}
