import { isJsonObject, isNestedDeeperThan, type Json, type JsonObject, ownField } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { EgressError, MAX_CALL_BYTES } from '../../platform/egress/http-client.ts'
import type { UpstreamResponse } from '../calls/executor.ts'
import { isRedirect } from '../calls/http-request.ts'
import { cleanJson, cleanText } from './clean-text.ts'
import { type McpSession, statusOf, withMcpSession } from './session.ts'
import type { McpServer } from './session-state.ts'
import { syncTools } from './sync-tools.ts'

/** MCP results have no status: a tool that reports an error counts as a request that the server refused. */
const TOOL_ERROR_STATUS = 422
const MAX_RESULT_DEPTH = 64
const MAX_ERROR_CHARACTERS = 2_000

/**
 * Calls a tool in a session of its own. The tools are listed first: if the tool is no longer the one that an admin
 * confirmed, nothing is sent.
 */
export async function callMcpTool(ctx: Ctx, server: McpServer, name: string, args: Json): Promise<UpstreamResponse> {
  if (!isJsonObject(args)) throw badRequest('the arguments of an MCP tool must be an object')
  return withMcpSession(ctx, server, async (session) => {
    const tool = await requireConfirmedTool(ctx, server, session, name)
    const response = await session.callTool(tool, args).then(toResponse, (error) => toErrorResponse(error, session))
    return { ...response, secrets: [...session.state.secrets] }
  })
}

async function requireConfirmedTool(
  ctx: Ctx,
  { connection }: McpServer,
  session: McpSession,
  name: string,
): Promise<{ name: string; inputSchema: JsonObject }> {
  const { tools } = await session.listTools()
  const stored = await syncTools(ctx, connection, tools)
  const row = stored.find((tool) => tool.name === name)
  const offered = tools.find((tool) => tool.name === name)
  if (!row || !offered) throw badRequest(`the server of connection '${connection.name}' has no tool '${name}'`)
  if (row.state !== 'confirmed') {
    const what = row.state === 'new' ? 'is new' : 'has changed since it was confirmed'
    throw badRequest(`tool '${name}' of connection '${connection.name}' ${what}: an admin must confirm it`)
  }
  if (row.class === 'off') throw badRequest(`tool '${name}' of connection '${connection.name}' is switched off`)
  return offered
}

type ToolResult = Awaited<ReturnType<McpSession['callTool']>>

/** The text of the result, or its structured content with the text. Other parts are named, not returned. */
function toResponse(result: ToolResult): UpstreamResponse {
  const text = result.content.map(describePart).join('\n')
  if (result.isError === true) return toolError(text)
  const structured = isJsonObject(result) ? ownField(result, 'structuredContent') : undefined
  if (structured !== undefined && isNestedDeeperThan(structured, MAX_RESULT_DEPTH))
    throw new EgressError('unreadable', 'the result is nested too deeply', { sent: true, status: 200 })
  const body = structured === undefined ? text : { text, structured: cleanJson(structured) }
  const isSmall = Buffer.byteLength(JSON.stringify(body)) <= MAX_CALL_BYTES
  return { ok: true, status: 200, contentType: 'application/json', body: isSmall ? body : cutText(text), error: null }
}

/** Every character has at most three bytes in UTF-8 per UTF-16 unit, or six as an escape in JSON. */
const MAX_CUT_CHARACTERS = MAX_CALL_BYTES / 6 - 100

/** The beginning of a result that is too large. Half of a structured result would be no valid result. */
const cutText = (text: string): string =>
  `${text.slice(0, MAX_CUT_CHARACTERS).replace(/[\ud800-\udbff]$/, '')}\n[cut: the result is larger than ${MAX_CALL_BYTES / 1024} KB]`

function describePart(part: ToolResult['content'][number]): string {
  if (part.type === 'text') return cleanText(part.text)
  if (part.type === 'resource_link') return `[link to resource ${cleanText(part.uri)}]`
  if (part.type === 'resource') {
    const { uri } = part.resource
    return 'text' in part.resource ? cleanText(part.resource.text) : `[resource ${cleanText(uri)} is not shown]`
  }
  return `[${part.type} ${cleanText(part.mimeType)} is not shown]`
}

const toolError = (text: string): UpstreamResponse => {
  const error = cleanText(text).slice(0, MAX_ERROR_CHARACTERS)
  return {
    ok: false,
    status: TOOL_ERROR_STATUS,
    contentType: 'application/json',
    body: error,
    error: `the tool failed: ${error}`,
  }
}

/** An answer that says that the call failed. Every other error leaves the outcome open. */
async function toErrorResponse(error: unknown, { state }: McpSession): Promise<UpstreamResponse> {
  if (state.failure) throw state.failure
  const { ProtocolError } = await import('./mcp-client.ts')
  if (error instanceof ProtocolError) return toolError(error.message)
  const status = statusOf(error)
  if (status === null) throw error
  const why = isRedirect(status) ? 'upstream answered with a redirect' : `upstream answered ${status}`
  return { ok: false, status, contentType: 'application/json', body: null, error: why }
}
