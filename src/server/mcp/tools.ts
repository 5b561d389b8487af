import { decideApprovalTool, getApprovalTool, listApprovalsTool } from './approval-tools.ts'
import type { McpTool } from './define-tool.ts'
import { getTaskTool, listWedgesTool, runTaskTool } from './task-tools.ts'

/** In the order of `MCP_TOOL_NAMES`. */
export const MCP_TOOLS: McpTool[] = [
  listWedgesTool,
  runTaskTool,
  getTaskTool,
  listApprovalsTool,
  getApprovalTool,
  decideApprovalTool,
]
