import type { Transport, VersionNegotiationProbeOptions } from '@modelcontextprotocol/client'
import type { Ctx } from '../../ctx/ctx.ts'
import { requireConfigUrl } from '../executors/http-request.ts'
import { openProgramTransport } from './program-transport.ts'
import { createServerFetch } from './server-fetch.ts'
import type { McpServer, SessionState } from './session-state.ts'
import { findServerProgram, isWedgeServer } from './wedge-server.ts'

/** An old program may ignore the first question for its version, and is then asked in the old way. */
const PROBE_TIMEOUT_MS = 3_000

/** The way to a server: by HTTP, or the pipes of a program. */
export interface OpenTransport {
  transport: Transport
  /** What the hash of the tools covers beside the tools, so that another server needs a new confirmation. */
  address: string
  /** How the client finds out which version of the protocol the server speaks. */
  probe: VersionNegotiationProbeOptions
  /** Tells the server that the session is over, or ends its program. */
  end(): Promise<void>
}

export async function openTransport(
  ctx: Ctx,
  library: typeof import('./mcp-client.ts'),
  server: McpServer,
  state: SessionState,
): Promise<OpenTransport> {
  if (isWedgeServer(server.connection.config)) {
    const { program, address } = await findServerProgram(ctx, server.connection)
    const transport = openProgramTransport(ctx, library, program, state)
    return { transport, address, probe: { timeoutMs: PROBE_TIMEOUT_MS }, end: () => transport.close() }
  }
  const url = new URL(requireConfigUrl(server.connection, 'url'))
  const transport = new library.StreamableHTTPClientTransport(url, {
    fetch: createServerFetch(ctx, server, url, state),
    requestInit: { redirect: 'manual' },
  })
  return { transport, address: url.href, probe: {}, end: () => transport.terminateSession() }
}
