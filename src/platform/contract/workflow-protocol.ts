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
  /** A JSON text, so that only texts enter and leave the realm of a call. */
  args: string
}

/** `spent`: the process may be in an unknown state, so it must not get another call. */
export type WorkflowReply =
  | { nonce: string; ready: true }
  | { nonce: string; id: number; result: Json; spent: boolean }
  | { nonce: string; id: number; error: string; spent: boolean }

export const MAX_WORKFLOW_RESULT_BYTES = 128 * 1024

/** The modules of Node that a workflow may import, with or without `node:`. They reach neither files nor the network. */
export const WORKFLOW_MODULES = [
  'assert',
  'buffer',
  'crypto',
  'path',
  'querystring',
  'string_decoder',
  'url',
  'util',
] as const
export type WorkflowModuleName = (typeof WORKFLOW_MODULES)[number]

/** The name of the module of Node if workflows may import it, else null. */
export function workflowModuleName(specifier: string): WorkflowModuleName | null {
  return WORKFLOW_MODULES.find((name) => specifier === name || specifier === `node:${name}`) ?? null
}
