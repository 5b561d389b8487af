/** Tools that the model of every wedge may use. */
export const COMMON_TOOLS = [
  'act',
  'read',
  'workflow',
  'records_get',
  'records_put',
  'records_list',
  'case_get',
  'case_update',
  'skill_read',
  'report_gap',
  'ask_person',
  'file_read',
  'progress',
  'finish',
] as const

/** Tools that a wedge opts into, by the name that its manifest lists in `tools`. */
export const OPTIONAL_TOOLS = {
  files: ['write_file', 'read_file', 'list_files', 'file_attach'],
  shell: ['run_command'],
} as const

export const TOOL_GROUPS = ['files', 'shell'] as const satisfies (keyof typeof OPTIONAL_TOOLS)[]
export type ToolGroup = (typeof TOOL_GROUPS)[number]

export type ToolName = (typeof COMMON_TOOLS)[number] | (typeof OPTIONAL_TOOLS)[ToolGroup][number]

/** The tools of a wedge that opts into these groups. */
export function toolsOfGroups(groups: readonly ToolGroup[]): ToolName[] {
  return [...COMMON_TOOLS, ...groups.flatMap((group) => OPTIONAL_TOOLS[group])]
}

export const TOOL_NAMES: ReadonlySet<string> = new Set<string>(toolsOfGroups(TOOL_GROUPS))

/** The tools of the MCP server. */
export const MCP_TOOL_NAMES = [
  'list_wedges',
  'run_task',
  'get_task',
  'list_approvals',
  'get_approval',
  'decide_approval',
] as const
export type McpToolName = (typeof MCP_TOOL_NAMES)[number]
