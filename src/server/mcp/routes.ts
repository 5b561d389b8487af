import { z } from 'zod'
import type { JsonObject } from '../../platform/base/json.ts'
import { forbidden, unauthorized } from '../../platform/base/problem.ts'
import { readTraceHeaders } from '../../platform/base/trace-context.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { Scope } from '../../platform/ctx/scope.ts'
import type { HttpRequest } from '../../platform/http/http-request.ts'
import {
  HttpResponse,
  nameRoutes,
  defineRead,
  type StreamResponse,
  writeOrganisation,
} from '../../platform/http/route.ts'
import { sseResponse } from '../../platform/http/sse.ts'
import { onRevoked } from '../../platform/http/revocable-stream.ts'
import { callWithForms, receiveFormAnswer } from './call-with-forms.ts'
import { founderServer } from './founder-server.ts'
import { McpMessage } from './message.ts'
import { handleMethod, isUnknownMethod, noStream } from './methods.ts'
import { mcpAccess } from './oauth/access.ts'
import { detectRevision, offersForms } from './protocol-revision.ts'
import { McpErrorView, McpReplyView, NoStreamView } from './view.ts'

export const MCP_PATH = '/mcp'

interface McpRequest {
  ctx: Ctx
  scope: Scope
  body: McpMessage
  request: HttpRequest
}

/**
 * The Model Context Protocol over streamable HTTP, without sessions: each message is one request with one response.
 * Each tool checks the caller's role, so the route itself requires only a viewer.
 */
export const mcpRoutes = (version: string) =>
  nameRoutes({
    sendMcpMessage: writeOrganisation('POST', MCP_PATH, {
      summary: 'Send an MCP message',
      description: 'Model Context Protocol over streamable HTTP (JSON-RPC 2.0), without sessions.',
      role: 'viewer',
      body: McpMessage,
      responses: { 200: McpReplyView, 202: z.null(), 400: McpErrorView, 404: McpErrorView },
      handle: (request: McpRequest) => handleMessage(request, version),
    }),

    getMcpStream: defineRead(MCP_PATH, {
      summary: 'Not available: MCP messages are posted',
      description:
        'Always 405. MCP clients try it and go on without it: the service sends what it has to say in the responses to `POST /mcp`.',
      responses: { 405: NoStreamView },
      async handle() {
        throw noStream()
      },
    }),

    endMcpSession: writeOrganisation('DELETE', MCP_PATH, {
      summary: 'Not available: there is no session to end',
      description:
        'Always 405. MCP clients may send it when they end; the service keeps nothing of a session, so there is nothing to do.',
      role: 'viewer',
      responses: { 405: NoStreamView },
      async handle() {
        throw noStream()
      },
    }),
  })

async function handleMessage(mcpRequest: McpRequest, version: string) {
  const { ctx, scope, body, request } = mcpRequest
  refuseForeignOrigin(ctx, request)
  const { id, method, params = {} } = body
  if (method === undefined) {
    // The server sends no requests but forms.
    await receiveFormAnswer({ ctx, scope }, String(id), body.result)
    return new HttpResponse(202, null)
  }
  const envelope = { jsonrpc: '2.0', ...(id !== undefined && { id }) }
  const revision = detectRevision({ id, method, params }, request.headers)
  if (typeof revision === 'object') return new HttpResponse(400, { ...envelope, error: revision })
  // The service does not need the content of any notification.
  if (id === undefined) return new HttpResponse(202, null)
  if (revision === 'handshake' && method === 'tools/call' && canReceiveForms(request))
    return streamCall(mcpRequest, id, params)
  const trace = readTraceHeaders(request.headers)
  const caller = { ctx, scope, startedAt: ctx.world.clock.now(), forms: null, trace }
  const work = (disconnected: AbortSignal) =>
    handleMethod(founderServer({ ...caller, disconnected }, version), revision, method, params)
  const result = await withDisconnectSignal(request, (disconnected) =>
    endOnRevocation({ ctx, scope, request }, disconnected, work),
  )
  const isUnknown = revision === 'stateless' && isUnknownMethod(result)
  const headers = method === 'initialize' && offersForms(params.capabilities) ? formSessionHeader(ctx) : {}
  return new HttpResponse(isUnknown ? 404 : 200, { ...envelope, ...result }, headers)
}

const FORM_SESSION = 'forms.'

/**
 * A client says only in its first request whether it can show forms. The session id repeats that in all later requests, so
 * that every replica knows it; there is nothing else in a session.
 */
const formSessionHeader = ({ world }: Ctx): Record<string, string> => ({
  'mcp-session-id': FORM_SESSION + Buffer.from(world.random(12)).toString('hex'),
})

const canReceiveForms = ({ headers }: HttpRequest): boolean =>
  String(headers['mcp-session-id']).startsWith(FORM_SESSION) && Boolean(headers.accept?.includes('text/event-stream'))

/** The response of a call that may show forms: a stream with the forms, and with the result as its last message. */
function streamCall({ ctx, scope, request }: McpRequest, id: string | number, params: JsonObject): StreamResponse {
  return sseResponse(ctx.world.clock, ctx.config.sseKeepaliveMs, async (client) => {
    const disconnected = new AbortController()
    client.onDisconnect = () => disconnected.abort()
    const send = (message: object) =>
      client.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`)
    const startedAt = ctx.world.clock.now()
    const trace = readTraceHeaders(request.headers)
    const caller = { ctx, scope, startedAt, forms: null, trace, disconnected: disconnected.signal }
    send({ id, ...(await callWithForms(caller, params, send)) })
  })
}

/** Web pages of other sites must not call the tools, even with a stolen key. Assistants send no origin. */
function refuseForeignOrigin(ctx: Ctx, { headers }: HttpRequest): void {
  const own = ctx.config.publicUrl && new URL(ctx.config.publicUrl).origin
  if (headers.origin !== undefined && headers.origin !== own) throw forbidden('origin is not allowed')
}

/** Stops a waiting call when the caller's credential is revoked; the response is then a 401 without the result. */
async function endOnRevocation<T>(
  { ctx, scope, request }: Pick<McpRequest, 'ctx' | 'scope' | 'request'>,
  disconnected: AbortSignal,
  work: (stopped: AbortSignal) => Promise<T>,
): Promise<T> {
  const revoked = new AbortController()
  const right = mcpAccess(ctx, scope, request)
  const unsubscribe = onRevoked(ctx, right, () => revoked.abort())
  try {
    // The credential may have been revoked after the request was authenticated and before the subscription.
    if (!(await right.isValid())) throw unauthorized()
    const result = await work(AbortSignal.any([disconnected, revoked.signal]))
    if (revoked.signal.aborted) throw unauthorized()
    return result
  } finally {
    unsubscribe()
  }
}

/** Runs the work with a signal that fires when the caller disconnects, so that no call waits without a caller. */
async function withDisconnectSignal<T>(
  { raw: { socket } }: HttpRequest,
  work: (disconnected: AbortSignal) => Promise<T>,
): Promise<T> {
  const disconnected = new AbortController()
  const abort = () => disconnected.abort()
  socket.once('close', abort)
  if (socket.destroyed) abort()
  // The connection stays open for further calls, so each call removes its own listener.
  return work(disconnected.signal).finally(() => socket.off('close', abort))
}
