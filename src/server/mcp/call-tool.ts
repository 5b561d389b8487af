import { decideApprovalTool, getApprovalTool, listApprovalsTool } from './approval-tools.ts'
import { getTaskTool, listWedgesTool, runTaskTool } from './task-tools.ts'
import { roleForbidden } from '../../identity/authentication/authenticate.ts'
import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'
import { Problem } from '../../platform/base/problem.ts'
import { isRoleAtLeast } from '../../platform/ctx/scope.ts'
import { applyFormAnswer } from './form-answers.ts'
import { FormNeeded } from './decision-form.ts'
import type { McpTool, ToolCaller } from './define-tool.ts'
import { toolError, toolResult, unknownTool } from './methods.ts'
import type { MethodResult } from './protocol-revision.ts'

/**
 * A mistake of the caller is a result with `isError`, so that an assistant can read it and correct the call. Only an
 * unknown tool and an internal error are errors of the protocol. `answers` are those of the forms that the call has shown.
 */
export async function callTool(
  caller: ToolCaller,
  { name, arguments: input = {} }: JsonObject,
  answers: Json = {},
): Promise<MethodResult | FormNeeded> {
  const tool = MCP_TOOLS.find((one) => one.name === name)
  if (!tool) return unknownTool(name)
  try {
    if (!isRoleAtLeast(caller.scope.role, tool.role)) throw roleForbidden(caller.scope)
    for (const [form, answer] of Object.entries(isJsonObject(answers) ? answers : {}))
      await applyFormAnswer(caller, form, answer)
    const result = await tool.call(caller, isJsonObject(input) ? input : {})
    if (result instanceof FormNeeded) return result
    return toolResult(result)
  } catch (error) {
    if (error instanceof Problem) return toolError(error.message)
    caller.ctx.world.log.error({ err: error, tool: tool.name }, 'tool failed')
    return { error: { code: -32603, message: 'internal error' } }
  }
}

/** In the order of `MCP_TOOL_NAMES`. */
export const MCP_TOOLS: McpTool[] = [
  listWedgesTool,
  runTaskTool,
  getTaskTool,
  listApprovalsTool,
  getApprovalTool,
  decideApprovalTool,
]
