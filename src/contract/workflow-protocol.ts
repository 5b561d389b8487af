import type { Json } from '../base/json.ts'

/**
 * What the service and a process for workflows say to each other, one JSON text per line. The service sends one start,
 * hears that the process is ready, and then sends calls, one at a time.
 */
export interface WorkflowStart {
  /**
   * Stands first in every line of the process, so that text which a workflow prints is not taken for an answer. It is
   * no wall: the workflow runs in the same process and could find it out, but then it forges only its own answers.
   */
  nonce: string
  /** The sources by their path below `workflows/`. */
  files: Record<string, string>
}

export interface WorkflowCall {
  id: number
  name: string
  args: Json
}

/** `spent`: something of the call still runs inside, so the process must not serve another. */
export type WorkflowReply =
  | { nonce: string; ready: true }
  | { nonce: string; id: number; result: Json; spent: boolean }
  | { nonce: string; id: number; error: string; spent: boolean }

export const MAX_WORKFLOW_RESULT_BYTES = 128 * 1024
