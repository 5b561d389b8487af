import { badRequest } from '../../platform/base/problem.ts'
import { OPTIONAL_TOOLS, TOOL_NAMES, type ToolName, toolsOfGroups } from '../../platform/contract/tool-names.ts'
import type { WedgeManifest } from '../../platform/contract/wedge/wedge-manifest.ts'

/** A task's `tools` may only name tools that exist. */
export function checkToolNames(names: readonly string[]): void {
  for (const name of names) if (!TOOL_NAMES.has(name)) throw badRequest(`unknown tool '${name}'`)
}

/** The tools of the wedge that the task requests, or all if it requests none. `finish` is always included, because it ends the run. */
export function toolsOfTask(manifest: Pick<WedgeManifest, 'tools'>, requested: readonly string[]): ToolName[] {
  const all = toolsOfGroups(manifest.tools)
  return requested.length === 0 ? all : all.filter((name) => name === 'finish' || requested.includes(name))
}

/** Whether the agent can execute code. Such a run gets its own cell. */
export const canExecuteCode = (tools: readonly string[]): boolean =>
  OPTIONAL_TOOLS.shell.some((name) => tools.includes(name))
