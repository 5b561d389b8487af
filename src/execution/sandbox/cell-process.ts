import type { ChildProcess, ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { SandboxCell, CellExit, CellLimits } from './driver.ts'
import type { FilesFolder } from './files-folder.ts'
import { createLineSplitter } from '../../platform/base/lines.ts'

export type CellProcess = ChildProcessByStdio<Writable, Readable, Readable>

/** `spawn` is typed with pipes only when its `stdio` option is a literal. */
export function hasStdioPipes(child: ChildProcess): child is CellProcess {
  return child.stdin !== null && child.stdout !== null && child.stderr !== null
}

/** How a driver ends a cell and reads its exit. */
export interface CellTermination {
  /** Called before `kill`, which is skipped if this returns true: the driver then kills the process itself, a moment later. */
  cancelStart?(): boolean
  /** Kills the cell and its children. Not called after the exit, when another process may have the same pid. */
  kill(pid: number): void
  /** How the program inside ended, from the exit of the process that ran it. */
  parseExit(code: number | null, signal: string | null): { code: number | null; signal: string | null }
  /** After the exit: a sentence about its cause that the program could not write itself. */
  explainExit?(): string | null
  /** Called once, after the exit; with 0 if the process could not be started. */
  afterExit(pid: number): void
}

/** How long children that outlive their cell may keep its pipes open. */
const PIPE_LINGER_TIMEOUT_MS = 1000

export function wrapCellProcess(
  child: CellProcess,
  limits: CellLimits,
  termination: CellTermination,
  files: FilesFolder | null,
): SandboxCell {
  const pid = child.pid ?? 0
  const errors = createStderrTail(limits.stderr_bytes)
  let deliver: (line: string) => void = ignore
  let killed = false

  const stop = () => {
    killed = true
    const isRunning = pid !== 0 && child.exitCode === null && child.signalCode === null
    if (isRunning && termination.cancelStart?.() !== true) termination.kill(pid)
    // A paused stream never ends, and the exit is reported only after the end of the stream.
    child.stdout.destroy()
  }
  const splitter = createLineSplitter(limits.output_line_bytes, (line) => {
    if (!killed) deliver(line)
  })
  child.stdout.on('data', (chunk: Buffer) => {
    if (killed || splitter.push(chunk)) return
    errors.note('line too long')
    stop()
  })
  child.stdout.on('end', () => {
    const rest = splitter.rest()
    if (rest !== '' && !killed) deliver(rest)
  })
  child.stderr.on('data', errors.push)
  // A dead cell breaks its pipes; its exit reports the cause, so the errors of the pipes are ignored.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', ignore)

  const exited = waitForExit(child, termination, errors)
  return {
    pid,
    files,
    write: createBatchedLineWriter(child.stdin),
    whenDrained: createDrainNotifier(child.stdin),
    closeInput: () => void child.stdin.end(),
    onLine: (handler) => void (deliver = handler),
    pause: () => void child.stdout.pause(),
    resume: () => void child.stdout.resume(),
    exited,
    async kill(reason) {
      if (reason !== undefined && !killed) errors.note(reason)
      stop()
      await exited
    },
  }
}

/** Lines that are written in the same tick are sent with one system call. */
function createBatchedLineWriter(pipe: Writable): (line: string) => boolean {
  return (line) => {
    if (pipe.writableCorked === 0) {
      pipe.cork()
      process.nextTick(() => pipe.uncork())
    }
    return pipe.write(`${line}\n`)
  }
}

/** Calls all waiting callbacks when the pipe has drained, and also when it is closed. */
function createDrainNotifier(pipe: Writable): (call: () => void) => void {
  let waiting: (() => void)[] = []
  const callAll = () => {
    const called = waiting
    waiting = []
    for (const call of called) call()
  }
  pipe.on('drain', callAll)
  pipe.on('close', callAll)
  return (call) => {
    waiting.push(call)
    if (!pipe.writableNeedDrain || pipe.destroyed) callAll()
  }
}

function waitForExit(child: CellProcess, termination: CellTermination, errors: StderrTail): Promise<CellExit> {
  child.once('exit', () => {
    const explanation = termination.explainExit?.() ?? null
    if (explanation !== null) errors.note(explanation)
    termination.afterExit(child.pid ?? 0)
    closePipesAfterExit(child)
  })
  return new Promise((resolve) => {
    child.once('error', (error) => {
      if (child.pid !== undefined) return
      termination.afterExit(0)
      errors.note(`could not start: ${error.message}`)
      resolve({ code: null, signal: null, stderr: errors.text() })
    })
    child.once('close', (code, signal) => resolve({ ...termination.parseExit(code, signal), stderr: errors.text() }))
  })
}

/** Closes pipes that a child of the dead cell keeps open, but waits for a reader that has paused. */
function closePipesAfterExit(child: CellProcess): void {
  const timer = setInterval(() => {
    if (child.stdout.isPaused()) return
    child.stdout.destroy()
    child.stderr.destroy()
    clearInterval(timer)
  }, PIPE_LINGER_TIMEOUT_MS)
  timer.unref()
  child.once('close', () => clearInterval(timer))
}

const ignore = () => {}

interface StderrTail {
  push: (chunk: Buffer) => void
  note(sentence: string): void
  text(): string
}

function createStderrTail(maxBytes: number): StderrTail {
  let kept = Buffer.alloc(0)
  const notes: string[] = []
  return {
    push(chunk) {
      const all = Buffer.concat([kept, chunk])
      kept = all.subarray(Math.max(0, all.length - maxBytes))
    },
    note: (sentence) => void notes.push(sentence),
    text: () => [kept.toString('utf8'), ...notes].filter((part) => part !== '').join('\n'),
  }
}
