import { errorMessageIn } from '../base/json-fields.ts'
import { isJsonObject, type JsonObject } from '../base/json.ts'
import type { LazyAbort } from '../base/lazy-abort.ts'
import type { Brief, PipeResponse, PipeRequest, PlaneRequest, CompleteResponse } from '../contract/agent-protocol.ts'
import { RunFailure } from './harness-run.ts'

/** The sandbox plane as one run sees it: questions leave as lines of the cell, and answers come as lines to it. */
export interface PlaneClient {
  tokens: { task: string; gate: string }
  /** Nobody waits for this run any more. */
  over: LazyAbort
  send: (ask: PipeRequest) => void
  pending: Map<number, PendingCall>
  lastCallId: number
}

interface PendingCall {
  /** Takes the pieces of an event stream. */
  onPiece: (piece: string) => void
  resolve: (answer: PlaneCallResult) => void
  reject: (error: unknown) => void
}

export type PlaneCallResult = Omit<CompleteResponse, 'piece'>

export function createPlaneClient(
  service: Brief['service'],
  over: LazyAbort,
  send: (ask: PipeRequest) => void,
): PlaneClient {
  const { task_token: task, gate_token: gate } = service
  const plane: PlaneClient = { tokens: { task, gate }, over, send, pending: new Map(), lastCallId: 0 }
  void over.whenAborted.then(() => {
    for (const { reject } of plane.pending.values()) reject(new RunFailure('aborted'))
    plane.pending.clear()
  })
  return plane
}

/** `first`: what must be answered with 200 before this is asked at all. */
export async function callPlane(
  plane: PlaneClient,
  method: string,
  path: string,
  body?: JsonObject,
  first?: PlaneRequest,
): Promise<PlaneCallResult> {
  const answer = await sendToPlane(plane, { token: plane.tokens.task, method, path, body, first })
  // The tokens die with the run: nothing that this run still does can count.
  if (answer.status === 401) throw new RunFailure('the run is over: its token is no longer valid')
  return answer
}

/** The gate has a token of its own, so that a leaked task token cannot ask for approvals. */
export function toGateCall({ tokens }: PlaneClient, tool: string, input: JsonObject): PlaneRequest {
  return { token: tokens.gate, method: 'POST', path: '/v1/internal/gate', body: { tool, input } }
}

export function streamFromPlane(
  plane: PlaneClient,
  path: string,
  headers: Record<string, string>,
  body: JsonObject,
  onPiece: (piece: string) => void,
): Promise<PlaneCallResult> {
  return sendToPlane(plane, { token: plane.tokens.task, method: 'POST', path, headers, body }, onPiece)
}

export function describeFailure(answer: PlaneCallResult): string {
  return errorMessageIn(answer.body) || `the service answered with status ${answer.status}`
}

/** The fields of a 2xx answer's body; an answer without an object has none. */
export function resultFields(answer: PlaneCallResult): JsonObject {
  return isJsonObject(answer.body) ? answer.body : {}
}

export function sendToPlane(
  plane: PlaneClient,
  question: Omit<PipeRequest, 'ask'>,
  onPiece: PendingCall['onPiece'] = () => {},
): Promise<PlaneCallResult> {
  return new Promise((resolve, reject) => {
    if (plane.over.isAborted) return reject(new RunFailure('aborted'))
    const number = ++plane.lastCallId
    plane.pending.set(number, { onPiece, resolve, reject })
    const { token, method, path, headers, body, first } = question
    plane.send({ ask: number, token, method, path, headers, body, first })
  })
}

/** Hands an answer, or a piece of one, to whoever waits for it; after a piece that makes no sense nobody does. */
export function receivePlaneLine(plane: PlaneClient, told: PipeResponse): void {
  const waiting = plane.pending.get(told.answer)
  if (!waiting) return
  try {
    if ('piece' in told) waiting.onPiece(told.piece)
    if ('cut' in told) throw new Error('the connection was cut')
    if (!('status' in told)) return
    const { status, body, first } = told
    waiting.resolve(first ? { status, body, first } : { status, body })
  } catch (error) {
    waiting.reject(error)
  }
  plane.pending.delete(told.answer)
}
