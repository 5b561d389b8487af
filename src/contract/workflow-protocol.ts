import type { Json } from '../base/json.ts'

/**
 * The messages between the service and a workflow process, one JSON text per line. The service sends one start, gets
 * `ready`, and then sends one call at a time.
 */
export interface WorkflowStart {
  /**
   * Is part of every reply, so that text which a workflow prints is not taken for a reply. It is not a security
   * boundary: the workflow runs in the same process and could read it, but could forge only its own replies.
   */
  nonce: string
  /** Source texts by their path below `workflows/`. */
  files: Record<string, string>
}

export interface WorkflowCall {
  id: number
  name: string
  args: Json
}

/** `spent`: a part of the call is still running, so the process must not get another call. */
export type WorkflowReply =
  | { nonce: string; ready: true }
  | { nonce: string; id: number; result: Json; spent: boolean }
  | { nonce: string; id: number; error: string; spent: boolean }

export const MAX_WORKFLOW_RESULT_BYTES = 128 * 1024
