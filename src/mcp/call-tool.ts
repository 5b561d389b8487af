import { roleForbidden } from '../accounts/authenticate.ts'
import { isJsonObject, type JsonObject } from '../base/json.ts'
import { Problem } from '../base/problem.ts'
import { isRoleAtLeast } from '../ctx/scope.ts'
import { type ToolCaller, MCP_TOOLS } from './tools.ts'

/**
 * What the caller did wrong is a result that says so, since an assistant can read it and do better; only a tool that is
 * not there, and our own faults, are errors of the protocol.
 */
export async function callTool(ask: ToolCaller, { name, arguments: given = {} }: JsonObject) {
  const tool = MCP_TOOLS.find(({ definition: described }) => described.name === name)
  if (!tool)
    return {
      error: {
        code: -32602,
        message: typeof name === 'string' ? `no such tool: ${name.slice(0, 100)}` : 'params.name must be a string',
      },
    }
  try {
    if (!isRoleAtLeast(ask.scope.role, tool.role)) throw roleForbidden(ask.scope)
    const result = await tool.call(ask, isJsonObject(given) ? given : {})
    return { result: { content: [text(JSON.stringify(result))], structuredContent: result, isError: false } }
  } catch (error) {
    if (error instanceof Problem) return { result: { content: [text(error.message)], isError: true } }
    ask.ctx.world.log.error({ err: error, tool: tool.definition.name }, 'tool failed')
    return { error: { code: -32603, message: 'internal error' } }
  }
}

const text = (words: string) => ({ type: 'text', text: words })
