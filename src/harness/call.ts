import { errorSentence } from '../base/fields.ts'
import { isJsonObject, type JsonObject } from '../base/json.ts'
import type { LateAbort } from '../base/late-abort.ts'
import type { Brief, PlaneAnswer, PlaneAsk, Question, Whole } from '../base/protocol.ts'
import { RunFailed } from './conversation.ts'

/** The sandbox plane as one run sees it: questions leave as lines of the cell, and answers come as lines to it. */
export interface Plane {
  tokens: { task: string; gate: string }
  /** Nobody waits for this run any more. */
  over: LateAbort
  send: (ask: PlaneAsk) => void
  waiting: Map<number, Waiting>
  asked: number
}

interface Waiting {
  /** Takes the pieces of an event stream. */
  onPiece: (piece: string) => void
  resolve: (answer: Answer) => void
  reject: (error: unknown) => void
}

export type Answer = Omit<Whole, 'piece'>

export function openPlane(service: Brief['service'], over: LateAbort, send: (ask: PlaneAsk) => void): Plane {
  const { task_token: task, gate_token: gate } = service
  const plane: Plane = { tokens: { task, gate }, over, send, waiting: new Map(), asked: 0 }
  void over.whenAborted.then(() => {
    for (const { reject } of plane.waiting.values()) reject(new RunFailed('aborted'))
    plane.waiting.clear()
  })
  return plane
}

/** `first`: what must be answered with 200 before this is asked at all. */
export async function callPlane(
  plane: Plane,
  method: string,
  path: string,
  body?: JsonObject,
  first?: Question,
): Promise<Answer> {
  const answer = await ask(plane, { token: plane.tokens.task, method, path, body, first })
  // The tokens die with the run: nothing that this run still does can count.
  if (answer.status === 401) throw new RunFailed('the run is over: its token is no longer valid')
  return answer
}

/** The gate has a token of its own, so that a leaked task token cannot ask for approvals. */
export function gateAsk({ tokens }: Plane, tool: string, input: JsonObject): Question {
  return { token: tokens.gate, method: 'POST', path: '/v1/internal/gate', body: { tool, input } }
}

export function streamFrom(
  plane: Plane,
  path: string,
  headers: Record<string, string>,
  body: JsonObject,
  onPiece: (piece: string) => void,
): Promise<Answer> {
  return ask(plane, { token: plane.tokens.task, method: 'POST', path, headers, body }, onPiece)
}

export function failureOf(answer: Answer): string {
  return errorSentence(answer.body) || `the service answered with status ${answer.status}`
}

/** The fields of a 2xx answer's body; an answer without an object has none. */
export function fieldsOf(answer: Answer): JsonObject {
  return isJsonObject(answer.body) ? answer.body : {}
}

export function ask(
  plane: Plane,
  question: Omit<PlaneAsk, 'ask'>,
  onPiece: Waiting['onPiece'] = () => {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    if (plane.over.isAborted) return reject(new RunFailed('aborted'))
    const number = ++plane.asked
    plane.waiting.set(number, { onPiece, resolve, reject })
    const { token, method, path, headers, body, first } = question
    plane.send({ ask: number, token, method, path, headers, body, first })
  })
}

/** Hands an answer, or a piece of one, to whoever waits for it; after a piece that makes no sense nobody does. */
export function hearAnswer(plane: Plane, told: PlaneAnswer): void {
  const waiting = plane.waiting.get(told.answer)
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
  plane.waiting.delete(told.answer)
}
