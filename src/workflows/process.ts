import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { messageOf } from '../base/message-of.ts'
import { parseStrictJson } from '../base/strict-json.ts'
import { RESULT_MOST_BYTES, type WorkflowCall, type WorkflowStart } from '../base/workflow-protocol.ts'
import type { Clock } from '../ctx/world.ts'
import type { Cell, CellLimits, Driver } from '../sandbox/driver.ts'

/** How a call ended. After anything but a result or an error the process is dead; when spent, it should be. */
export type Outcome =
  | { kind: 'result'; value: Json; spent: boolean }
  | { kind: 'error'; message: string; spent: boolean }
  | { kind: 'timed out' }
  | { kind: 'cancelled' }
  | { kind: 'crashed' }

/** A sandboxed process with the workflows of one wedge loaded. It does one call at a time. */
export interface WorkflowProcess {
  call(name: string, args: Json, timeoutMs: number, signal?: AbortSignal): Promise<Outcome>
  kill(): Promise<void>
  /** Resolves when it is gone, whatever ended it. */
  gone: Promise<unknown>
}

export interface ProcessMaker {
  driver: Driver
  /** The folder with the bundled program. */
  agentDir: string
  clock: Clock
}

/** No CPU limit, because it lives long: the time-out of each call is the limit. */
const LIMITS: CellLimits = {
  memory_mb: 256,
  processes: 32,
  file_mb: 16,
  tmp_mb: 16,
  cpu_s: 0,
  output_line_bytes: RESULT_MOST_BYTES + 1024,
  stderr_bytes: 4096,
}
const START_MOST_MS = 15_000
const NOISE_MOST_BYTES = 1024 * 1024

/** Resolves when the process waits for calls; none of the wedge's code has run by then. */
export async function startProcess(maker: ProcessMaker, start: WorkflowStart): Promise<WorkflowProcess> {
  const { driver, agentDir, clock } = maker
  const program = `${driver.agentDirInside(agentDir)}/workflow-cell.cjs`
  const cell = driver.start({ profile: 'sealed', command: ['node', program], agentDir, socket: null, limits: LIMITS })
  const inbox = listen(cell, start.nonce)
  const ready = inbox.next()
  cell.write(JSON.stringify(start))
  const cancel = clock.after(START_MOST_MS, () => void cell.kill())
  const first = await ready
  cancel()
  if (first?.['ready'] !== true) {
    void cell.kill()
    throw new Error(`the process for workflows did not start: ${(await cell.exited).stderr.slice(-500)}`)
  }
  let calls = 0
  return {
    call: (name, args, timeoutMs, signal) =>
      carryOut({ cell, inbox, clock }, { id: ++calls, name, args }, timeoutMs, signal),
    kill: () => cell.kill(),
    gone: cell.exited,
  }
}

interface Inbox {
  /** The next line that bears the nonce; null when there will be none. */
  next(): Promise<JsonObject | null>
}

/** Lines that nobody waits for are dropped, and a process that babbles is ended. */
function listen(cell: Cell, nonce: string): Inbox {
  const mark = `{"nonce":"${nonce}",`
  let noise = 0
  let gone = false
  let hear: ((line: JsonObject | null) => void) | null = null
  cell.onLine((line) => {
    if (line.startsWith(mark)) return hear?.(parsed(line))
    noise += line.length + 1
    if (noise > NOISE_MOST_BYTES) void cell.kill()
  })
  void cell.exited.then(() => {
    gone = true
    hear?.(null)
  })
  return {
    next: () =>
      new Promise((resolve) => {
        hear = resolve
        if (gone) resolve(null)
      }),
  }
}

/** What cannot be stored, such as NUL in a text, is an error of the workflow and not of the process. */
function parsed(line: string): JsonObject {
  try {
    const value = parseStrictJson(Buffer.from(line))
    return isJsonObject(value) ? value : {}
  } catch (error) {
    return { fault: messageOf(error) }
  }
}

interface Conversation {
  cell: Cell
  inbox: Inbox
  clock: Clock
}

function carryOut(
  { cell, inbox, clock }: Conversation,
  call: WorkflowCall,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Outcome> {
  return new Promise((resolve) => {
    const finish = (outcome: Outcome) => {
      cancel()
      signal?.removeEventListener('abort', abort)
      resolve(outcome)
    }
    const give = (kind: 'timed out' | 'cancelled') => {
      finish({ kind })
      void cell.kill()
    }
    const abort = () => give('cancelled')
    const cancel = clock.after(timeoutMs, () => give('timed out'))
    signal?.addEventListener('abort', abort, { once: true })
    void inbox.next().then((line) => finish(outcomeOf(line, call.id)))
    cell.write(JSON.stringify(call))
  })
}

/** The line comes from the workflow's own process, so nothing in it is taken for granted. */
function outcomeOf(line: JsonObject | null, id: number): Outcome {
  if (!line) return { kind: 'crashed' }
  const spent = line['spent'] !== false
  if (typeof line['fault'] === 'string') return { kind: 'error', message: `its result: ${line['fault']}`, spent: true }
  if (line['id'] !== id) return { kind: 'error', message: 'it answered another call', spent: true }
  if (line['result'] !== undefined) return { kind: 'result', value: line['result'], spent }
  return { kind: 'error', message: typeof line['error'] === 'string' ? line['error'] : 'it gave no answer', spent }
}
