import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { errorMessage } from '../base/error-message.ts'
import { parseStrictJson } from '../base/strict-json.ts'
import { MAX_WORKFLOW_RESULT_BYTES, type WorkflowCall, type WorkflowStart } from '../contract/workflow-protocol.ts'
import type { Clock } from '../ctx/world.ts'
import type { SandboxCell, CellLimits, SandboxDriver } from '../sandbox/driver.ts'

/** How a call ended. After anything but a result or an error the process is dead; when spent, it should be. */
export type WorkflowOutcome =
  | { kind: 'result'; value: Json; spent: boolean }
  | { kind: 'error'; message: string; spent: boolean }
  | { kind: 'timed out' }
  | { kind: 'cancelled' }
  | { kind: 'crashed' }

/** A sandboxed process with the workflows of one wedge loaded. It does one call at a time. */
export interface WorkflowProcess {
  call(name: string, args: Json, timeoutMs: number, signal?: AbortSignal): Promise<WorkflowOutcome>
  kill(): Promise<void>
  /** Resolves when it is gone, whatever ended it. */
  exited: Promise<unknown>
}

export interface WorkflowProcessOptions {
  driver: SandboxDriver
  /** The folder with the bundled program. */
  agentDir: string
  clock: Clock
}

/** No CPU limit, because it lives long: the time-out of each call is the limit. */
const WORKFLOW_CELL_LIMITS: CellLimits = {
  memory_mb: 256,
  processes: 32,
  file_mb: 16,
  tmp_mb: 16,
  cpu_s: 0,
  output_line_bytes: MAX_WORKFLOW_RESULT_BYTES + 1024,
  stderr_bytes: 4096,
}
const START_TIMEOUT_MS = 15_000
const MAX_NOISE_BYTES = 1024 * 1024

/** Resolves when the process waits for calls; none of the wedge's code has run by then. */
export async function startWorkflowProcess(
  maker: WorkflowProcessOptions,
  start: WorkflowStart,
): Promise<WorkflowProcess> {
  const { driver, agentDir, clock } = maker
  const program = `${driver.agentDirInside(agentDir)}/workflow-cell.cjs`
  const cell = driver.start({
    profile: 'sealed',
    command: ['node', program],
    agentDir,
    socket: null,
    limits: WORKFLOW_CELL_LIMITS,
  })
  const inbox = openInbox(cell, start.nonce)
  const ready = inbox.next()
  cell.write(JSON.stringify(start))
  const cancel = clock.after(START_TIMEOUT_MS, () => void cell.kill())
  const first = await ready
  cancel()
  if (first?.['ready'] !== true) {
    void cell.kill()
    throw new Error(`the process for workflows did not start: ${(await cell.exited).stderr.slice(-500)}`)
  }
  let calls = 0
  return {
    call: (name, args, timeoutMs, signal) =>
      callProcess({ cell, inbox, clock }, { id: ++calls, name, args }, timeoutMs, signal),
    kill: () => cell.kill(),
    exited: cell.exited,
  }
}

interface Inbox {
  /** The next line that bears the nonce; null when there will be none. */
  next(): Promise<JsonObject | null>
}

/** Lines that nobody waits for are dropped, and a process that babbles is ended. */
function openInbox(cell: SandboxCell, nonce: string): Inbox {
  const mark = `{"nonce":"${nonce}",`
  let noise = 0
  let gone = false
  let hear: ((line: JsonObject | null) => void) | null = null
  cell.onLine((line) => {
    if (line.startsWith(mark)) return hear?.(parseReply(line))
    noise += line.length + 1
    if (noise > MAX_NOISE_BYTES) void cell.kill()
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
function parseReply(line: string): JsonObject {
  try {
    const value = parseStrictJson(Buffer.from(line))
    return isJsonObject(value) ? value : {}
  } catch (error) {
    return { fault: errorMessage(error) }
  }
}

interface ProcessHandles {
  cell: SandboxCell
  inbox: Inbox
  clock: Clock
}

function callProcess(
  { cell, inbox, clock }: ProcessHandles,
  call: WorkflowCall,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<WorkflowOutcome> {
  return new Promise((resolve) => {
    const finish = (outcome: WorkflowOutcome) => {
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
function outcomeOf(line: JsonObject | null, id: number): WorkflowOutcome {
  if (!line) return { kind: 'crashed' }
  const spent = line['spent'] !== false
  if (typeof line['fault'] === 'string') return { kind: 'error', message: `its result: ${line['fault']}`, spent: true }
  if (line['id'] !== id) return { kind: 'error', message: 'it answered another call', spent: true }
  if (line['result'] !== undefined) return { kind: 'result', value: line['result'], spent }
  return { kind: 'error', message: typeof line['error'] === 'string' ? line['error'] : 'it gave no answer', spent }
}
