import { isJsonObject, type Json } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import { argumentErrors } from '../../platform/contract/output-schema.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { findExecutor } from '../executors/executor-table.ts'
import type { Connection } from '../connection/rows.ts'
import { capabilityOf, type ConnectionTool, toolNameIn } from '../connection/tool.ts'

/** The tools of a connection; null if it has no tools by name and takes every capability below its own name. */
export async function listConnectionTools(ctx: Ctx, connection: Connection): Promise<ConnectionTool[] | null> {
  return (await findExecutor(connection.kind)?.listTools?.(ctx, connection)) ?? null
}

/** The tool that the capability names, also if it is off; null if there is none. */
export async function findTool(ctx: Ctx, connection: Connection, capability: string): Promise<ConnectionTool | null> {
  const tools = await listConnectionTools(ctx, connection)
  return (tools && pickTool(tools, connection, capability)) ?? null
}

/** One call of a connection by an agent: an action (`act`), which a person approves, or a read. */
export interface ToolCallRequest {
  capability: string
  use: 'act' | 'read'
  arguments: Json
}

/**
 * Throws a 400 for a call that the connection would not take: an unknown tool, one that is off, an action on the read
 * route, or arguments that do not match. Called before a person is asked, and again before the call is sent. A read on
 * the action route is allowed: it stops at the gate like every action.
 */
export async function checkToolCall(
  ctx: Ctx,
  connection: Connection,
  { capability, use, arguments: args }: ToolCallRequest,
): Promise<ConnectionTool | null> {
  const tools = await listConnectionTools(ctx, connection)
  if (!tools) return null
  const tool = pickTool(tools, connection, capability)
  if (!tool) throw badRequest(describeUnknownTool(tools, connection, capability))
  if (tool.class === 'off') throw badRequest(`'${capability}' is switched off`)
  if (use === 'read' && tool.class !== 'read') {
    throw badRequest(`'${capability}' is an action, not a read: use /v1/internal/actions/${capability}`)
  }
  checkToolArguments(connection, tool, args, use === 'read' ? 'arguments' : 'payload')
  return tool
}

/** Throws a 400 that names the field if the arguments do not match the tool. */
export function checkToolArguments(connection: Connection, tool: ConnectionTool, args: Json, field: string): void {
  const [error] = argumentErrors(tool.inputSchema, args)
  if (error) throw badRequest(`field '${field}${error.path.slice(1)}' ${error.message}`)
  const capability = capabilityOf(connection, tool.name)
  findExecutor(connection.kind)?.checkArguments?.(connection, capability, args)
  const undeclared = findUndeclaredField(tool, args)
  if (undeclared)
    throw badRequest(`field '${field}.${undeclared.name}' is not one of '${capability}': ${undeclared.has}`)
}

/** A field that the tool does not declare could change what a rule approves, so a closed schema refuses it. */
function findUndeclaredField({ inputSchema }: ConnectionTool, args: Json): { name: string; has: string } | null {
  const { additionalProperties, properties } = inputSchema
  if (additionalProperties !== false || !isJsonObject(args)) return null
  const declared = isJsonObject(properties) ? Object.keys(properties) : []
  const name = Object.keys(args).find((key) => !declared.includes(key))
  if (name === undefined) return null
  return { name, has: declared.length === 0 ? 'it has no fields' : `it has ${declared.slice(0, 20).join(', ')}` }
}

const pickTool = (tools: ConnectionTool[], connection: Connection, capability: string) =>
  tools.find(({ name }) => name === toolNameIn(connection, capability))

/** Lists at most 20 tools: an agent that made a mistake finds the right name there. */
function describeUnknownTool(tools: ConnectionTool[], connection: Connection, capability: string): string {
  const usable = tools.filter((tool) => tool.class !== 'off').map(({ name }) => capabilityOf(connection, name))
  const list = usable.slice(0, 20).join(', ')
  const offered = usable.length === 0 ? 'it has no tools' : `it has ${list}${usable.length > 20 ? ' and more' : ''}`
  return `connection '${connection.name}' has no tool '${capability}': ${offered}`
}
