import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { tryParseJsonObject } from '../../platform/base/json-fields.ts'
import type { JsonObject } from '../../platform/base/json.ts'
import { createLineSplitter, type LineSplitter } from '../../platform/base/lines.ts'
import { type AgentLine, type Brief, EXIT_GRACE_MS } from '../../platform/contract/agent-protocol.ts'
import { exitMessage } from '../../platform/contract/exit-message.ts'
import { emitArtifacts } from './artifacts.ts'
import { parseCellInput } from './harness-cell.ts'
import { homeFolder, killProcessGroup, minimalEnvironment } from './child-process.ts'
import { drainLines, type LineWriter, writeJsonLine } from './line-writer.ts'
import { openLoopbackPort, serviceEnvironment } from './loopback-port.ts'

/**
 * A program that implements the agent protocol, its working folder `dir` and the folder `out` for its files. `socket`: the
 * socket of the service, to which a loopback port leads; null if the program gets no port.
 */
export type CustomAgent = { program: string; args: string[]; dir: string; out: string; socket: string | null }

/** Enough for an artifact of 10 MiB in base64; a longer line would fill the memory of the cell. */
const MAX_LINE_BYTES = 32 * 1024 * 1024
/** The last part of stderr is kept for the error message. */
const MAX_STDERR_CHARS = 65_536

/** The state of the run. `last` is the output or error of the program, held back until its files are delivered. */
interface CustomAgentState {
  run: string
  child: ChildProcess | null
  last: JsonObject | null
  unreadable: number
  port: number | null
}

export function parseCustomAgentArguments(args: string[]): CustomAgent {
  const split = args.indexOf('--')
  const [program, ...programArgs] = split === -1 ? [] : args.slice(split + 1)
  if (program === undefined)
    throw new Error('usage: harness --custom-agent [--dir folder] [--out folder] [--socket path] -- program …')
  const options = args.slice(0, split)
  const dir = optionValue(options, '--dir', homeFolder())
  const out = optionValue(options, '--out', path.join(homeFolder(), 'out'))
  return { program, args: programArgs, dir, out, socket: optionValue(options, '--socket', '') || null }
}

/** Waits for the start line, runs the program with its brief, and resolves when its files and output are delivered. */
export async function runCustomAgent(
  custom: CustomAgent,
  input: Readable,
  writer: LineWriter,
  log: Writable,
): Promise<void> {
  const port = custom.socket === null ? null : await openLoopbackPort(custom.socket)
  const state: CustomAgentState = { run: '', child: null, last: null, unreadable: 0, port }
  mkdirSync(custom.out, { recursive: true })
  writeJsonLine(writer, { ready: true })
  await new Promise<void>((resolve) => {
    const splitter = createLineSplitter(Number.POSITIVE_INFINITY, (line) => {
      const command = parseCellInput(line)
      if (command === null) return
      if ('start' in command && state.run === '') {
        state.run = command.run
        void runProgram(custom, state, command.start, writer, log).then(resolve)
      } else if ('abort' in command) {
        if (state.child) killProcessGroup(state.child)
        else resolve()
      }
    })
    input.on('data', (chunk: Buffer) => splitter.push(chunk))
    // The input ends when the service ends, and the program must end with it.
    const leave = () => (state.child ? killProcessGroup(state.child) : resolve())
    input.once('end', leave)
    process.once('SIGTERM', leave)
  })
}

async function runProgram(
  custom: CustomAgent,
  state: CustomAgentState,
  brief: Brief,
  writer: LineWriter,
  log: Writable,
): Promise<void> {
  const tagged = async (line: AgentLine) => {
    writeJsonLine(writer, { ...line, run: state.run })
    await drainLines(writer)
  }
  const end = await waitForProgram(custom, state, brief, writer)
  if (state.unreadable > 0)
    log.write(`${state.unreadable} lines of the agent were ignored because they are not JSON objects\n`)
  await emitArtifacts(custom.out, tagged, brief.artifact_max_mb).catch((error: unknown) =>
    log.write(`files could not be delivered: ${String(error)}\n`),
  )
  writeJsonLine(writer, { ...(state.last ?? { error: end, ended: true }), run: state.run })
  await drainLines(writer)
}

/** Resolves with a sentence on how the program ended, for runs without an output or error of the program. */
function waitForProgram(
  custom: CustomAgent,
  state: CustomAgentState,
  brief: Brief,
  writer: LineWriter,
): Promise<string> {
  const { port } = state
  return new Promise((resolve) => {
    const child = spawn(custom.program, custom.args, {
      cwd: custom.dir,
      env: { ...minimalEnvironment(), ...(port !== null && serviceEnvironment(port, brief.service.task_token)) },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    })
    state.child = child
    const splitter = createLineSplitter(MAX_LINE_BYTES, (line) => relayLine(state, line, writer))
    child.once('error', (error) => resolve(`the agent could not be started: ${error.message}`))
    child.stdin.on('error', () => {})
    child.stdin.end(`${JSON.stringify(brief)}\n`)
    child.stdout.on('data', (chunk: Buffer) => relayChunk(state, splitter, chunk, child.stdout, writer))
    let stderr = ''
    child.stderr.setEncoding('utf8')
    child.stderr.on('data', (chunk: string) => (stderr = (stderr + chunk).slice(-MAX_STDERR_CHARS)))
    child.once('exit', () => {
      killProcessGroup(child)
      setTimeout(() => [child.stdout, child.stderr].forEach((stream) => stream.destroy()), EXIT_GRACE_MS).unref()
    })
    child.once('close', (code, signal) => {
      relayLine(state, splitter.rest(), writer)
      resolve(exitMessage(signal ?? `exit code ${code}`, stderr))
    })
  })
}

function relayChunk(
  state: CustomAgentState,
  splitter: LineSplitter,
  chunk: Buffer,
  from: Readable,
  writer: LineWriter,
) {
  if (!splitter.push(chunk)) {
    state.last ??= { error: 'the agent failed: a line is longer than 32 MiB' }
    if (state.child) killProcessGroup(state.child)
  }
  // A program that writes too fast waits for the service instead of filling the memory of this process.
  if (!writer.stream.writableNeedDrain) return
  from.pause()
  writer.stream.once('drain', () => from.resume())
}

function relayLine(state: CustomAgentState, line: string, writer: LineWriter): void {
  if (line.trim() === '' || state.last !== null) return
  const message = tryParseJsonObject(line)
  if (message === null) {
    state.unreadable++
  } else if ('output' in message || 'error' in message) {
    state.last = message
    const { child } = state
    if (child) setTimeout(() => killProcessGroup(child), EXIT_GRACE_MS).unref()
  } else {
    writeJsonLine(writer, { ...message, run: state.run })
  }
}

function optionValue(options: string[], name: string, otherwise: string): string {
  const at = options.indexOf(name)
  return at === -1 ? otherwise : (options[at + 1] ?? otherwise)
}
