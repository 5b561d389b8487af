import type { JsonObject } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { EgressError } from '../../platform/egress/http-client.ts'
import type { ConnectionToolRow } from '../../platform/store/tables.ts'
import { inlinePayloadFiles } from '../../work/files/payload-files.ts'
import { openSecret } from '../../identity/vault/secrets.ts'
import { callMcpTool } from '../mcp/call-tool.ts'
import { refreshTools } from '../mcp/refresh-tools.ts'
import { listToolRows } from '../mcp/tool-rows.ts'
import { isWedgeServer, readServerCommand } from '../mcp/wedge-server.ts'
import type { Connection } from '../connection/rows.ts'
import { type ConnectionTool, toolNameIn } from '../connection/tool.ts'
import type { ConnectionExecutor, ConnectionTestResult, ConnectionUse } from '../calls/executor.ts'
import { requireConfigUrl } from '../calls/http-request.ts'

/**
 * Calls tools of the MCP server at `config.url` (streamable HTTP), or of the one that `config.command` starts from the
 * files of `config.wedge`. An admin decides which tools may be called.
 */
export const mcpExecutor: ConnectionExecutor = {
  requiredConfig: ['url', 'command'],
  findMissingConfig: (config) => (config.url || config.command ? [] : ['url']),
  credential: 'optional_secret',
  checkConfig,
  async listTools(ctx, connection) {
    return (await listToolRows(ctx.db, connection.id)).map(toConnectionTool)
  },
  act: (ctx, action) =>
    callMcpTool(ctx, action, requireToolName(action), inlinePayloadFiles(action.payload, action.files)),
  read: (ctx, read) => callMcpTool(ctx, read, requireToolName(read), read.arguments),
  test: testServer,
}

function checkConfig(config: JsonObject): void {
  if (isWedgeServer(config)) readServerCommand(config)
  else if (config.env !== undefined && config.env !== null)
    throw badRequest("field 'config.env' is only for a server that 'config.command' starts")
}

function requireToolName({ connection, capability }: ConnectionUse): string {
  const name = toolNameIn(connection, capability)
  if (name === null) throw badRequest(`'${capability}' does not name a tool: use '${connection.name}:TOOL'`)
  return name
}

const toConnectionTool = (row: ConnectionToolRow): ConnectionTool => ({
  name: row.name,
  description: row.description,
  inputSchema: JSON.parse(row.input_schema),
  class: row.state === 'confirmed' ? row.class : 'off',
  amount: null,
})

/** Connects and lists the tools, which also stores them. */
async function testServer(ctx: Ctx, connection: Connection): Promise<ConnectionTestResult> {
  const { config } = connection
  const server = isWedgeServer(config)
    ? `wedge '${readServerCommand(config).wedge}'`
    : new URL(requireConfigUrl(connection, 'url')).origin
  const checked = `tools of ${server}`
  try {
    await refreshTools(ctx, connection, await openSecret(ctx, connection))
    return { ok: true, checked, status: 200, error: null }
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    return { ok: false, checked, status: error.status, error: error.message }
  }
}
