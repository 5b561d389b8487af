import type { Transport, VersionNegotiationProbeOptions } from '@modelcontextprotocol/client'
import { MAX_PROGRAM_FILES, MAX_PROGRAM_FILES_MB, type ProgramFiles } from '../../platform/contract/program-setup.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { RunningProgram } from '../../platform/ctx/program-starter.ts'
import { requireConfigUrl } from '../calls/http-request.ts'
import { openProgramTransport } from './program-transport.ts'
import { saveProgramFiles } from './program-files.ts'
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
  /** The next call needs what this one has stored, so its end is awaited. */
  keepsFiles: boolean
}

export async function openTransport(
  ctx: Ctx,
  library: typeof import('./mcp-client.ts'),
  server: McpServer,
  state: SessionState,
): Promise<OpenTransport> {
  if (isWedgeServer(server.connection.config)) {
    const { program, address } = await findServerProgram(ctx, server)
    const { transport, running } = openProgramTransport(ctx, library, program, state)
    const { setup } = program
    const end = setup === null ? () => running.kill() : () => keepFiles(ctx, server, setup.files, running)
    return { transport, address, probe: { timeoutMs: PROBE_TIMEOUT_MS }, end, keepsFiles: setup !== null }
  }
  const url = new URL(requireConfigUrl(server.connection, 'url'))
  const transport = new library.StreamableHTTPClientTransport(url, {
    fetch: createServerFetch(ctx, server, url, state),
    requestInit: { redirect: 'manual' },
  })
  return { transport, address: url.href, probe: {}, end: () => transport.terminateSession(), keepsFiles: false }
}

/** Ends the program and stores its files for the next call. A failure is only logged: the call itself has its result. */
async function keepFiles(
  ctx: Ctx,
  { connection, clientId = null }: McpServer,
  before: ProgramFiles,
  running: RunningProgram,
): Promise<void> {
  try {
    const after = await running.finish()
    if (after === null) ctx.world.log.warn({ connection: connection.id }, FILES_NOT_KEPT)
    else if (!(await saveProgramFiles(ctx, { connection_id: connection.id, client_id: clientId ?? '' }, before, after)))
      ctx.world.log.warn({ connection: connection.id }, FILES_NOT_KEPT)
  } catch (err) {
    ctx.world.log.warn({ err, connection: connection.id }, FILES_NOT_KEPT)
  }
}

const FILES_NOT_KEPT = `the files of an MCP server were not kept: it was stopped, or has more than ${MAX_PROGRAM_FILES} files or ${MAX_PROGRAM_FILES_MB} MB`
