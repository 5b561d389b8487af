import { badRequest } from '../base/problem.ts'
import { OPTIONAL_TOOLS, TOOL_NAMES, type ToolName, toolsOfGroups } from '../contract/tool-names.ts'
import type { WedgeManifest } from '../contract/wedge-manifest.ts'

/** A task's `tools` may only name tools that exist. */
export function checkToolNames(names: readonly string[]): void {
  for (const name of names) if (!TOOL_NAMES.has(name)) throw badRequest(`unknown tool '${name}'`)
}

/** The wedge's tools, narrowed by the task's list when it has one; `finish` is how a run ends, so it stays. */
export function toolsOfTask(manifest: Pick<WedgeManifest, 'tools'>, asked: readonly string[]): ToolName[] {
  const all = toolsOfGroups(manifest.tools)
  return asked.length === 0 ? all : all.filter((name) => name === 'finish' || asked.includes(name))
}

/** Whether the model's words can become code: such a run gets a cell of its own. */
export const canExecuteCode = (tools: readonly string[]): boolean =>
  OPTIONAL_TOOLS.shell.some((name) => tools.includes(name))
