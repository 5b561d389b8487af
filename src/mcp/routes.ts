import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { badRequest, forbidden, Problem } from '../base/problem.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { Scope } from '../ctx/scope.ts'
import { json, jsonObject } from '../http/judge.ts'
import { Answer, read, route } from '../http/route.ts'
import { callTool } from './call.ts'
import { TOOLS } from './tools.ts'

/** The newest first: it is what a client gets that asks for one we do not know. */
const VERSIONS = ['2025-11-25', '2025-06-18']

const INSTRUCTIONS =
  'Runs tasks of work ("wedges") for the founder. Begin with list_wedges, then run_task. What a task does to the ' +
  'outside may need an approval: show the person its preview and let them decide before you call decide_approval.'

const Message = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).optional().meta({ description: 'absent in a notification' }),
  method: z.string(),
  params: jsonObject.optional(),
})
type Message = z.infer<typeof Message>

const Reply = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]),
  result: json.optional(),
  error: z.object({ code: z.number().int(), message: z.string() }).optional(),
})

/**
 * The Model Context Protocol over streamable HTTP, without sessions: each message is a request of its own and is
 * answered by one JSON object. What a tool may do depends on the caller's role, so the door itself asks for little.
 */
export const postMcp = (version: string) =>
  route('POST', '/mcp', {
    summary: "Speak the Model Context Protocol (JSON-RPC 2.0): for a founder's own assistant",
    role: 'viewer',
    level: 'organisation',
    body: Message,
    answers: { 200: Reply, 202: z.null() },
    async handle({ ctx, scope, body, request }: { ctx: Ctx; scope: Scope; body: Message; request: FastifyRequest }) {
      checkHeaders(ctx, request)
      // A notification tells something that we need not know.
      if (body.id === undefined) return new Answer(202, null)
      const answered = await whileThere(request, (gone) => answer(ctx, scope, body, version, gone))
      return { jsonrpc: '2.0', id: body.id, ...answered }
    },
  })

export const getMcp = read('/mcp', {
  summary: 'Not a stream: messages of the Model Context Protocol are posted',
  answers: { 405: z.object({ error: z.string() }) },
  async handle() {
    throw new Problem(405, 'there is no stream here: post messages', { headers: { allow: 'POST' } })
  },
})

async function answer(ctx: Ctx, scope: Scope, { method, params = {} }: Message, version: string, gone: AbortSignal) {
  switch (method) {
    case 'initialize':
      return { result: initialize(params.protocolVersion, version) }
    case 'ping':
      return { result: {} }
    case 'tools/list':
      return { result: { tools: TOOLS.map(({ described }) => described) } }
    case 'tools/call':
      return callTool({ ctx, scope, gone }, params)
    default:
      return { error: { code: -32601, message: `no such method: ${method.slice(0, 100)}` } }
  }
}

function initialize(wanted: unknown, version: string) {
  return {
    protocolVersion: VERSIONS.find((known) => known === wanted) ?? VERSIONS[0],
    capabilities: { tools: {} },
    serverInfo: { name: 'agent-work-service', title: 'Agent Work Service', version },
    instructions: INSTRUCTIONS,
  }
}

/** A page of somebody else has no business here, even if it got hold of a key; assistants send no origin. */
function checkHeaders(ctx: Ctx, { headers }: FastifyRequest): void {
  const own = ctx.config.publicUrl && new URL(ctx.config.publicUrl).origin
  if (headers.origin !== undefined && headers.origin !== own) throw forbidden('origin is not allowed')
  const spoken = headers['mcp-protocol-version']
  if (spoken !== undefined && !VERSIONS.some((known) => known === spoken)) {
    throw badRequest(`header 'mcp-protocol-version' must be one of ${VERSIONS.join(', ')}`)
  }
}

/** The signal fires when the caller hangs up: nobody waits on behalf of nobody. */
async function whileThere<T>({ raw }: FastifyRequest, work: (gone: AbortSignal) => Promise<T>): Promise<T> {
  const { socket } = raw
  const gone = new AbortController()
  const leave = () => gone.abort()
  socket.once('close', leave)
  if (socket.destroyed) leave()
  // The connection outlives the call.
  return work(gone.signal).finally(() => socket.off('close', leave))
}
