import type { Client } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../platform/base/json.ts'
import { Problem } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { SecretUnavailable } from '../../platform/ctx/vault.ts'
import { EgressError } from '../../platform/egress/http-client.ts'
import { answerElicitation } from './elicitation.ts'
import { MAX_TOOLS, type OfferedTools, readOfferedTools } from './offered-tools.ts'
import { type OpenTransport, openTransport } from './open-transport.ts'
import { type McpServer, type SessionState, startSession, withdrawQuestions } from './session-state.ts'

/** The timers of the client package are off: the session has its own time limit. Node.js allows no longer timer. */
const NO_TIMEOUT_MS = 2 ** 31 - 1
/** A server that lists forever is stopped. */
const MAX_PAGES = 50

export interface McpSession {
  state: SessionState
  listTools(): Promise<OfferedTools>
  callTool(tool: { name: string; inputSchema: JsonObject }, args: JsonObject): ReturnType<Client['callTool']>
}

/**
 * Connects to the server, does the work and ends the session. Throws an `EgressError` if the server cannot be used; its
 * `sent` is true only if the tool call may have reached the server. Waiting for a person is not limited in time.
 */
export async function withMcpSession<T>(
  ctx: Ctx,
  server: McpServer,
  work: (session: McpSession) => Promise<T>,
): Promise<T> {
  const state = startSession(ctx)
  try {
    const library = await import('./mcp-client.ts')
    const opened = await openTransport(ctx, library, server, state)
    const client = createClient(library, server, opened, state)
    try {
      await client.connect(opened.transport, requestOptions(state))
      return await work(createSession(client, opened.address, state))
    } finally {
      await withdrawQuestions(state)
      const end = endSession(client, opened)
      // Otherwise the result does not depend on how the server takes the end.
      if (opened.keepsFiles) await end
    }
  } catch (error) {
    throw toSessionError(error, state)
  } finally {
    state.deadline.stop()
  }
}

const requestOptions = ({ over }: SessionState) => ({ signal: over.signal, timeout: NO_TIMEOUT_MS })

function createClient(
  library: typeof import('./mcp-client.ts'),
  { askPerson }: McpServer,
  { probe }: OpenTransport,
  state: SessionState,
): Client {
  const client = new library.Client(
    { name: 'agent-work-service', version: '1' },
    // Also without a person to ask: some servers offer other tools to a client that cannot ask.
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto', probe } },
  )
  client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) =>
    state.deadline.whileWaiting(() => answerElicitation(askPerson, state, params, mcpReq.signal)),
  )
  return client
}

function createSession(client: Client, address: string, state: SessionState): McpSession {
  return {
    state,
    async listTools() {
      const listed: unknown[] = []
      let cursor: string | undefined
      for (let page = 0; page < MAX_PAGES && listed.length <= MAX_TOOLS; page++) {
        const params = cursor === undefined ? {} : { cursor }
        const { tools, nextCursor } = await client.request({ method: 'tools/list', params }, requestOptions(state))
        listed.push(...tools)
        if (nextCursor === undefined) break
        cursor = nextCursor
      }
      return readOfferedTools(address, listed)
    },
    async callTool({ name, inputSchema }, args) {
      // The server has ended since it listed its tools, so nothing is sent.
      if (state.failure) throw state.failure
      state.isCalling = true
      // Without an output schema: the service checks results itself.
      const toolDefinition = { name, inputSchema: { ...inputSchema, type: 'object' as const } }
      return client.callTool({ name, arguments: args }, { ...requestOptions(state), toolDefinition })
    },
  }
}

async function endSession(client: Client, opened: OpenTransport): Promise<void> {
  await opened.end().catch(() => {})
  await client.close().catch(() => {})
}

function toSessionError(error: unknown, { failure, isCalling, isCallSeen }: SessionState): Error {
  if (failure instanceof EgressError)
    return new EgressError(failure.kind, failure.message, { sent: isCallSeen || (isCalling && failure.sent) })
  if (failure && isCallSeen) return new EgressError('unreadable', failure.message, { sent: true })
  if (failure) return failure
  if (error instanceof Problem || error instanceof SecretUnavailable || error instanceof EgressError) return error
  return new EgressError('unreadable', describeAnswer(error), { sent: isCalling })
}

/** The messages of the client package may quote the server, so only its status is shown. */
function describeAnswer(error: unknown): string {
  const status = statusOf(error)
  if (status === 401 || status === 403) return `upstream answered ${status}: it does not accept the credential`
  return status === null ? 'the server does not answer as an MCP server' : `upstream answered ${status}`
}

/** The HTTP status of an error of the client package. */
export function statusOf(error: unknown): number | null {
  const status = error instanceof Error && 'status' in error ? error.status : null
  return typeof status === 'number' ? status : null
}
