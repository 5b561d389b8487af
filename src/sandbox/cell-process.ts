import type { ChildProcess, ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { SandboxCell, CellExit, CellLimits } from './driver.ts'
import { createLineSplitter } from '../base/lines.ts'

export type CellProcess = ChildProcessByStdio<Writable, Readable, Readable>

/** The types of `spawn` know this only for a list of streams that is written out. */
export function hasStdioPipes(child: ChildProcess): child is CellProcess {
  return child.stdin !== null && child.stdout !== null && child.stderr !== null
}

/** What differs between the drivers once the process runs. */
export interface CellTermination {
  /** Sends the signal that nothing survives. Not called after the process has gone, when its number may be another's. */
  kill(pid: number): void
  /** How the program itself ended, seen through the process that carried it. */
  read(code: number | null, signal: string | null): { code: number | null; signal: string | null }
  /** Called once, when the process has gone. */
  afterwards(pid: number): void
}

/** How long children that outlive their cell may hold its pipes before these are cut. */
const PIPE_LINGER_TIMEOUT_MS = 1000

export function wrapCellProcess(child: CellProcess, limits: CellLimits, ending: CellTermination): SandboxCell {
  const pid = child.pid ?? 0
  const errors = createStderrTail(limits.stderr_bytes)
  let deliver: (line: string) => void = ignore
  let killed = false

  const stop = () => {
    killed = true
    if (pid !== 0 && child.exitCode === null && child.signalCode === null) ending.kill(pid)
    // A paused stream would never end, and the exit is told only after its end.
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
  // A cell that died does not read its input any more; its exit tells that better than a broken pipe.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', ignore)

  const exited = waitForExit(child, ending, errors)
  return {
    pid,
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

/** Lines for many runs, written by one stretch of code, leave in one call of the system. */
function createBatchedLineWriter(pipe: Writable): (line: string) => boolean {
  return (line) => {
    if (pipe.writableCorked === 0) {
      pipe.cork()
      process.nextTick(() => pipe.uncork())
    }
    return pipe.write(`${line}\n`)
  }
}

/** All who wait are called at once, and those of a pipe that is gone too. */
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

function waitForExit(child: CellProcess, ending: CellTermination, errors: StderrTail): Promise<CellExit> {
  child.once('exit', () => {
    ending.afterwards(child.pid ?? 0)
    closePipesAfterExit(child)
  })
  return new Promise((resolve) => {
    child.once('error', (error) => {
      if (child.pid !== undefined) return
      errors.note(`could not start: ${error.message}`)
      resolve({ code: null, signal: null, stderr: errors.text() })
    })
    child.once('close', (code, signal) => resolve({ ...ending.read(code, signal), stderr: errors.text() }))
  })
}

/** A reader that paused may take its time; a pipe that only a stray child still holds open may not. */
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
