import { z } from 'zod'
import type { PipePlane } from '../../platform/http/pipe-plane.ts'
import { HttpResponse, nameRoutes } from '../../platform/http/route.ts'
import { sseResponse } from '../../platform/http/sse.ts'
import { sandboxRoute } from '../../execution/runs/requests/sandbox-routes.ts'
import type { TaskRun } from '../../execution/runs/session/task-run.ts'
import { agentServer } from './agent-server.ts'
import { McpMessage } from './message.ts'
import { handleMethod, isUnknownMethod, noStream } from './methods.ts'
import { detectRevision, type MethodResult } from './protocol-revision.ts'
import { McpErrorView, McpReplyView, NoStreamView } from './view.ts'

const AGENT_MCP_PATH = '/v1/internal/mcp'
/** An approval may take days, and HTTP clients give up after minutes without a byte. */
const KEEPALIVE_MS = 15_000

/** The Model Context Protocol for the agent of a run, without sessions: each message is one request with one response. */
export const agentMcpRoutes = (plane: PipePlane<TaskRun>, version: string) =>
  nameRoutes({
    sendAgentMcpMessage: sandboxRoute('POST', AGENT_MCP_PATH, {
      summary: 'Send an MCP message',
      body: McpMessage,
      responses: { 200: McpReplyView, 202: z.null(), 400: McpErrorView, 404: McpErrorView },
      async handle({ ctx, scope: run, body, request: { headers } }) {
        const { id, method, params = {} } = body
        // The server sends no requests, so it expects no answers, and it needs no notification.
        if (method === undefined || id === undefined) return new HttpResponse(202, null)
        const envelope = { jsonrpc: '2.0', id }
        const revision = detectRevision({ id, method, params }, headers)
        if (typeof revision === 'object') return new HttpResponse(400, { ...envelope, error: revision })
        const server = agentServer(plane, run, version)
        const work = (): Promise<MethodResult> => handleMethod(server, revision, method, params)
        if (method === 'tools/call' && headers.accept?.includes('text/event-stream'))
          return sseResponse(ctx.world.clock, KEEPALIVE_MS, async (client) => {
            const reply = JSON.stringify({ ...envelope, ...(await work()) })
            client.end(`event: message\ndata: ${reply}\n\n`)
          })
        const result = await work()
        const isUnknown = revision === 'stateless' && isUnknownMethod(result)
        return new HttpResponse(isUnknown ? 404 : 200, { ...envelope, ...result })
      },
    }),

    getAgentMcpStream: sandboxRoute('GET', AGENT_MCP_PATH, {
      summary: 'Not available: MCP messages are posted',
      responses: { 405: NoStreamView },
      async handle() {
        throw noStream()
      },
    }),

    endAgentMcpSession: sandboxRoute('DELETE', AGENT_MCP_PATH, {
      summary: 'Not available: there is no session to end',
      responses: { 405: NoStreamView },
      async handle() {
        throw noStream()
      },
    }),
  })
