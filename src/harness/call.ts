import http from 'node:http'
import type { Brief } from '../base/protocol.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { RunFailed } from './conversation.ts'
import { errorSentence, parseJson } from '../base/fields.ts'

/** The sandbox plane as one run sees it. The agent keeps connections open and is shared by all runs of the cell. */
export interface Plane {
  agent: http.Agent
  address: { socketPath: string } | { host: string; port: number }
  prefix: string
  token: string
  gateToken: string
  signal: AbortSignal
  /** Called before anything is asked of the service but the model. */
  beforeCall: () => void
}

/** Kept connections by address; a cell has one of these. */
export type Agents = Map<string, http.Agent>

export type Answer = { status: number; body: Json }

type Request = {
  method: string
  path: string
  token: string
  headers?: Record<string, string>
  body?: JsonObject
  /** Whether the request may be sent a second time when a kept connection turns out to be closed. */
  repeatable: boolean
  /** Takes the pieces of a 200 that is an event stream; any other answer is read whole. */
  onChunk?: (chunk: string) => void
}

export function openPlane(
  agents: Agents,
  service: Brief['service'],
  signal: AbortSignal,
  beforeCall: () => void = () => {},
): Plane {
  const key = service.socket ?? service.base_url
  const agent = agents.get(key) ?? new http.Agent({ keepAlive: true })
  agents.set(key, agent)
  const shared = { agent, token: service.task_token, gateToken: service.gate_token, signal, beforeCall }
  if (service.socket !== null) return { ...shared, address: { socketPath: service.socket }, prefix: '' }
  const url = new URL(service.base_url)
  const address = { host: url.hostname, port: Number(url.port || 80) }
  return { ...shared, address, prefix: url.pathname.replace(/\/$/, '') }
}

export async function callPlane(plane: Plane, method: string, path: string, body?: JsonObject): Promise<Answer> {
  plane.beforeCall()
  const sent = body === undefined ? {} : { body }
  const answer = await send(plane, { method, path, token: plane.token, repeatable: method === 'GET', ...sent })
  // The tokens die with the run: nothing that this run still does can count.
  if (answer.status === 401) throw new RunFailed('the run is over: its token is no longer valid')
  return answer
}

/** The gate has a token of its own, so that a leaked task token cannot ask for approvals. */
export function callGate(plane: Plane, tool: string, input: JsonObject): Promise<Answer> {
  plane.beforeCall()
  const body = { tool, input }
  return send(plane, { method: 'POST', path: '/v1/internal/gate', token: plane.gateToken, repeatable: false, body })
}

export function streamFrom(
  plane: Plane,
  path: string,
  headers: Record<string, string>,
  body: JsonObject,
  onChunk: (chunk: string) => void,
): Promise<Answer> {
  return send(plane, { method: 'POST', path, token: plane.token, headers, body, repeatable: true, onChunk })
}

export function failureOf(answer: Answer): string {
  return errorSentence(answer.body) || `the service answered with status ${answer.status}`
}

async function send(plane: Plane, request: Request): Promise<Answer> {
  const first: Attempt = { stale: false }
  try {
    return await attempt(plane, request, first)
  } catch (error) {
    if (!first.stale || !request.repeatable) throw error
    return attempt(plane, request, { stale: false })
  }
}

/** `stale`: a kept connection broke before a byte of the answer came. */
type Attempt = { stale: boolean }

function attempt(plane: Plane, request: Request, attempt: Attempt): Promise<Answer> {
  return new Promise((resolve, reject) => {
    if (plane.signal.aborted) return reject(new RunFailed('aborted'))
    const outgoing = http.request({
      ...plane.address,
      agent: plane.agent,
      method: request.method,
      path: plane.prefix + request.path,
      headers: headersOf(request),
    })
    const abort = () => outgoing.destroy(new RunFailed('aborted'))
    plane.signal.addEventListener('abort', abort, { once: true })
    outgoing.once('close', () => plane.signal.removeEventListener('abort', abort))
    outgoing.on('response', (incoming) => {
      readAnswer(incoming, request).then(resolve, reject)
    })
    outgoing.on('error', (error) => {
      attempt.stale = outgoing.reusedSocket && !plane.signal.aborted
      reject(error)
    })
    outgoing.end(request.body === undefined ? undefined : JSON.stringify(request.body))
  })
}

function headersOf({ token, headers, body }: Request): Record<string, string> {
  const content = body === undefined ? undefined : { 'content-type': 'application/json' }
  return { authorization: `Bearer ${token}`, ...content, ...headers }
}

function readAnswer(incoming: http.IncomingMessage, { onChunk }: Request): Promise<Answer> {
  const status = incoming.statusCode ?? 0
  const streams = status === 200 && (incoming.headers['content-type'] ?? '').startsWith('text/event-stream')
  return new Promise((resolve, reject) => {
    let text = ''
    incoming.setEncoding('utf8')
    incoming.on('error', reject)
    incoming.on('data', (chunk: string) => {
      if (!onChunk || !streams) text += chunk
      else callOrDestroy(incoming, onChunk, chunk)
    })
    incoming.on('end', () => resolve({ status, body: bodyOf(text) }))
  })
}

function callOrDestroy(incoming: http.IncomingMessage, onChunk: (chunk: string) => void, chunk: string): void {
  try {
    onChunk(chunk)
  } catch (error) {
    // Pieces that have already arrived are still handed out after destroy().
    incoming.removeAllListeners('data')
    incoming.destroy(error instanceof Error ? error : new Error(String(error)))
  }
}

/** Whatever is not JSON is kept as text: a proxy in between may answer with a page. */
function bodyOf(text: string): Json {
  if (text === '') return null
  try {
    return parseJson(text)
  } catch {
    return text
  }
}

/** The fields of a 2xx answer's body; an answer without an object has none. */
export function fieldsOf(answer: Answer): JsonObject {
  return isJsonObject(answer.body) ? answer.body : {}
}
