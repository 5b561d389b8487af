import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'
import { errorMessage } from '../../platform/base/error-message.ts'
import { parseStrictJson } from '../../platform/base/strict-json.ts'
import {
  MAX_WORKFLOW_RESULT_BYTES,
  type WorkflowCall,
  type WorkflowStart,
} from '../../platform/contract/workflow-protocol.ts'
import type { Clock } from '../../platform/ctx/world.ts'
import type { SandboxCell, CellLimits, SandboxDriver } from '../sandbox/driver.ts'

/** How a call ended. After a result or an error the process lives; if `spent`, it must not be used again. */
export type WorkflowOutcome =
  | { kind: 'result'; value: Json; spent: boolean }
  | { kind: 'error'; message: string; spent: boolean }
  | { kind: 'timed out' }
  | { kind: 'cancelled' }
  | { kind: 'crashed' }

/** A sandboxed process with the workflows of one wedge. It executes one call at a time, each in a new realm. */
export interface WorkflowProcess {
  call(name: string, args: Json, timeoutMs: number, signal?: AbortSignal): Promise<WorkflowOutcome>
  kill(): Promise<void>
  /** Resolves when the process has exited for any reason. */
  exited: Promise<unknown>
}

export interface WorkflowProcessOptions {
  driver: SandboxDriver
  /** The folder that contains the bundled program. */
  agentDir: string
  clock: Clock
}

/** No CPU limit, because the process is long-lived: the timeout limits each call. */
const WORKFLOW_CELL_LIMITS: CellLimits = {
  memory_mb: 256,
  processes: 32,
  open_files: 256,
  file_mb: 16,
  tmp_mb: 16,
  cpu_s: 0,
  output_line_bytes: MAX_WORKFLOW_RESULT_BYTES + 1024,
  stderr_bytes: 4096,
}
/**
 * Realms load workflows as modules; frozen built-in objects and zeroed buffers leave nothing from one call to the next.
 */
const PROGRAM_FLAGS = [
  '--experimental-vm-modules',
  '--frozen-intrinsics',
  '--zero-fill-buffers',
  // V8's own cache of compiled code would keep every realm in memory, until the process ends for lack of it.
  '--no-compilation-cache',
  '--no-warnings',
]
const START_TIMEOUT_MS = 15_000
const MAX_NOISE_BYTES = 1024 * 1024

/** Resolves when the process is ready for calls; no code of the wedge has run by then. */
export async function startWorkflowProcess(
  options: WorkflowProcessOptions,
  start: WorkflowStart,
): Promise<WorkflowProcess> {
  const { driver, agentDir, clock } = options
  const program = `${driver.agentDirInside(agentDir)}/workflow-cell.cjs`
  const cell = driver.start({
    profile: 'sealed',
    command: ['node', ...PROGRAM_FLAGS, program],
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
    throw new Error(`the workflow process did not start: ${(await cell.exited).stderr.slice(-500)}`)
  }
  let calls = 0
  return {
    call: (name, args, timeoutMs, signal) =>
      callProcess({ cell, inbox, clock }, { id: ++calls, name, args: JSON.stringify(args) }, timeoutMs, signal),
    kill: () => cell.kill(),
    exited: cell.exited,
  }
}

interface Inbox {
  /** The next line that starts with the nonce; null after the exit of the process. */
  next(): Promise<JsonObject | null>
}

/** Other lines are dropped; a process that writes too many of them is killed. */
function openInbox(cell: SandboxCell, nonce: string): Inbox {
  const prefix = `{"nonce":"${nonce}",`
  let noise = 0
  let hasExited = false
  let deliver: ((line: JsonObject | null) => void) | null = null
  cell.onLine((line) => {
    if (line.startsWith(prefix)) return deliver?.(parseReply(line))
    noise += line.length + 1
    if (noise > MAX_NOISE_BYTES) void cell.kill()
  })
  void cell.exited.then(() => {
    hasExited = true
    deliver?.(null)
  })
  return {
    next: () =>
      new Promise((resolve) => {
        deliver = resolve
        if (hasExited) resolve(null)
      }),
  }
}

/** A result that cannot be stored, such as a text with NUL, is an error of the workflow and not of the process. */
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
    const stop = (kind: 'timed out' | 'cancelled') => {
      finish({ kind })
      void cell.kill()
    }
    const abort = () => stop('cancelled')
    const cancel = clock.after(timeoutMs, () => stop('timed out'))
    signal?.addEventListener('abort', abort, { once: true })
    void inbox.next().then((line) => finish(outcomeOf(line, call.id)))
    cell.write(JSON.stringify(call))
  })
}

/** The line comes from the process of the workflow, so none of its fields can be trusted. */
function outcomeOf(line: JsonObject | null, id: number): WorkflowOutcome {
  if (!line) return { kind: 'crashed' }
  const spent = line['spent'] !== false
  if (typeof line['fault'] === 'string') return { kind: 'error', message: `its result: ${line['fault']}`, spent: true }
  if (line['id'] !== id) return { kind: 'error', message: 'it responded to another call', spent: true }
  if (line['result'] !== undefined) return { kind: 'result', value: line['result'], spent }
  return {
    kind: 'error',
    message: typeof line['error'] === 'string' ? line['error'] : 'it returned neither a result nor an error',
    spent,
  }
}
