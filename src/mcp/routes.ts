import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { streamAccess } from '../accounts/stream-revocation.ts'
import { forbidden, Problem, unauthorized } from '../base/problem.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { Scope } from '../ctx/scope.ts'
import { jsonObject } from '../http/validate.ts'
import { HttpResponse, nameRoutes, defineRead, writeOrganisation } from '../http/route.ts'
import { onRevoked } from '../http/revocable-stream.ts'
import { handleHandshakeMethod, handleStatelessMethod, isUnknownMethod } from './methods.ts'
import { detectRevision } from './protocol-revision.ts'
import { McpReplyView, NoStreamView } from './view.ts'

const Message = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).optional().meta({ description: 'Absent in a notification.' }),
  method: z.string(),
  params: jsonObject.optional(),
})
type Message = z.infer<typeof Message>

interface McpRequest {
  ctx: Ctx
  scope: Scope
  body: Message
  request: FastifyRequest
}

/**
 * The Model Context Protocol over streamable HTTP, without sessions: each message is a request of its own and is
 * answered by one JSON object. What a tool may do depends on the caller's role, so the route asks only for a viewer.
 */
export const mcpRoutes = (version: string) =>
  nameRoutes({
    sendMcpMessage: writeOrganisation('POST', '/mcp', {
      summary: 'Send an MCP message',
      description: 'Model Context Protocol over streamable HTTP (JSON-RPC 2.0), without sessions.',
      role: 'viewer',
      body: Message,
      responses: { 200: McpReplyView, 202: z.null(), 400: McpReplyView, 404: McpReplyView },
      handle: (ask: McpRequest) => handleMessage(ask, version),
    }),

    getMcpStream: defineRead('/mcp', {
      summary: 'Not available: MCP messages are posted',
      responses: { 405: NoStreamView },
      async handle() {
        throw new Problem(405, 'there is no stream here: post messages', { headers: { allow: 'POST' } })
      },
    }),
  })

async function handleMessage({ ctx, scope, body, request }: McpRequest, version: string) {
  refuseForeignOrigin(ctx, request)
  const { id, method, params = {} } = body
  const envelope = { jsonrpc: '2.0', ...(id !== undefined && { id }) }
  const revision = detectRevision(body, request.headers)
  if (typeof revision === 'object') return new HttpResponse(400, { ...envelope, error: revision })
  // A notification tells something that we need not know.
  if (id === undefined) return new HttpResponse(202, null)
  const answer = revision === 'stateless' ? handleStatelessMethod : handleHandshakeMethod
  const work = (gone: AbortSignal) => answer({ ctx, scope, disconnected: gone }, method, params, version)
  const answered = await untilDisconnected(request, (gone) => untilRevokedDuring({ ctx, scope, request }, gone, work))
  const unknown = revision === 'stateless' && isUnknownMethod(answered)
  return new HttpResponse(unknown ? 404 : 200, { ...envelope, ...answered })
}

/** A page of somebody else has no business here, even if it got hold of a key; assistants send no origin. */
function refuseForeignOrigin(ctx: Ctx, { headers }: FastifyRequest): void {
  const own = ctx.config.publicUrl && new URL(ctx.config.publicUrl).origin
  if (headers.origin !== undefined && headers.origin !== own) throw forbidden('origin is not allowed')
}

/** Who loses the right to ask while they wait waits no longer, and is not told what they waited for. */
async function untilRevokedDuring<T>(
  { ctx, scope, request }: Pick<McpRequest, 'ctx' | 'scope' | 'request'>,
  gone: AbortSignal,
  work: (gone: AbortSignal) => Promise<T>,
): Promise<T> {
  const revoked = new AbortController()
  const right = streamAccess(ctx, scope, request)
  const stop = onRevoked(ctx, right, () => revoked.abort())
  try {
    // Between the request's own look and the listening.
    if (!(await right.isValid())) throw unauthorized()
    const done = await work(AbortSignal.any([gone, revoked.signal]))
    if (revoked.signal.aborted) throw unauthorized()
    return done
  } finally {
    stop()
  }
}

/** The signal fires when the caller hangs up: nobody waits on behalf of nobody. */
async function untilDisconnected<T>({ raw }: FastifyRequest, work: (gone: AbortSignal) => Promise<T>): Promise<T> {
  const { socket } = raw
  const gone = new AbortController()
  const leave = () => gone.abort()
  socket.once('close', leave)
  if (socket.destroyed) leave()
  // The connection outlives the call.
  return work(gone.signal).finally(() => socket.off('close', leave))
}
