import { roleForbidden } from '../accounts/authenticate.ts'
import { isJsonObject, type JsonObject } from '../base/json.ts'
import { Problem } from '../base/problem.ts'
import { isRoleAtLeast } from '../ctx/scope.ts'
import { type ToolCaller, MCP_TOOLS } from './tools.ts'

/**
 * A mistake of the caller is a result with `isError`, so that an assistant can read it and correct the call. Only an
 * unknown tool and an internal error are errors of the protocol.
 */
export async function callTool(caller: ToolCaller, { name, arguments: input = {} }: JsonObject) {
  const tool = MCP_TOOLS.find(({ definition }) => definition.name === name)
  if (!tool)
    return {
      error: {
        code: -32602,
        message: typeof name === 'string' ? `no such tool: ${name.slice(0, 100)}` : 'params.name must be a string',
      },
    }
  try {
    if (!isRoleAtLeast(caller.scope.role, tool.role)) throw roleForbidden(caller.scope)
    const result = await tool.call(caller, isJsonObject(input) ? input : {})
    return { result: { content: [textContent(JSON.stringify(result))], structuredContent: result, isError: false } }
  } catch (error) {
    if (error instanceof Problem) return { result: { content: [textContent(error.message)], isError: true } }
    caller.ctx.world.log.error({ err: error, tool: tool.definition.name }, 'tool failed')
    return { error: { code: -32603, message: 'internal error' } }
  }
}

const textContent = (text: string) => ({ type: 'text', text })
