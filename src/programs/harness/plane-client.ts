import { errorMessageIn } from '../../platform/base/json-fields.ts'
import { isJsonObject, type JsonObject } from '../../platform/base/json.ts'
import type { LazyAbort } from '../../platform/base/lazy-abort.ts'
import type {
  Brief,
  PipeResponse,
  PipeRequest,
  PlaneRequest,
  CompleteResponse,
} from '../../platform/contract/agent-protocol.ts'
import { RunFailure } from './harness-run.ts'

/** The client of one run for the sandbox plane. Requests and responses are lines on the pipe of the cell. */
export interface PlaneClient {
  tokens: { task: string; gate: string }
  /** Aborted when the run is over. */
  over: LazyAbort
  send: (request: PipeRequest) => void
  pending: Map<number, PendingCall>
  lastCallId: number
}

interface PendingCall {
  /** Receives the pieces of an event stream. */
  onPiece: (piece: string) => void
  resolve: (result: PlaneCallResult) => void
  reject: (error: unknown) => void
}

export type PlaneCallResult = Omit<CompleteResponse, 'piece'>

export function createPlaneClient(
  service: Brief['service'],
  over: LazyAbort,
  send: (request: PipeRequest) => void,
): PlaneClient {
  const { task_token: task, gate_token: gate } = service
  const plane: PlaneClient = { tokens: { task, gate }, over, send, pending: new Map(), lastCallId: 0 }
  void over.whenAborted.then(() => {
    for (const { reject } of plane.pending.values()) reject(new RunFailure('aborted'))
    plane.pending.clear()
  })
  return plane
}

/** `first` is a request that must be answered with 200 before the service handles this one. */
export async function callPlane(
  plane: PlaneClient,
  method: string,
  path: string,
  body?: JsonObject,
  first?: PlaneRequest,
): Promise<PlaneCallResult> {
  const result = await sendToPlane(plane, { token: plane.tokens.task, method, path, body, first })
  // Tokens are valid only during the run, so the service has ended it.
  if (result.status === 401) throw new RunFailure('the run is over: its token is no longer valid')
  return result
}

/** The gate has its own token, so that a leaked task token cannot request approvals. */
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

export function describeFailure(result: PlaneCallResult): string {
  return errorMessageIn(result.body) || `the service answered with status ${result.status}`
}

/** The fields of the response body; empty if the body is not an object. */
export function resultFields(result: PlaneCallResult): JsonObject {
  return isJsonObject(result.body) ? result.body : {}
}

export function sendToPlane(
  plane: PlaneClient,
  request: Omit<PipeRequest, 'ask'>,
  onPiece: PendingCall['onPiece'] = () => {},
): Promise<PlaneCallResult> {
  return new Promise((resolve, reject) => {
    if (plane.over.isAborted) return reject(new RunFailure('aborted'))
    const number = ++plane.lastCallId
    plane.pending.set(number, { onPiece, resolve, reject })
    const { token, method, path, headers, body, first } = request
    plane.send({ ask: number, token, method, path, headers, body, first })
  })
}

/** Passes a response, or a piece of one, to the pending call. A piece that cannot be read fails the call. */
export function receivePlaneLine(plane: PlaneClient, response: PipeResponse): void {
  const call = plane.pending.get(response.answer)
  if (!call) return
  try {
    if ('piece' in response) call.onPiece(response.piece)
    if ('cut' in response) throw new Error('the connection was closed')
    if (!('status' in response)) return
    const { status, body, first } = response
    call.resolve(first ? { status, body, first } : { status, body })
  } catch (error) {
    call.reject(error)
  }
  plane.pending.delete(response.answer)
}
