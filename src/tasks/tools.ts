import { badRequest } from '../base/problem.ts'
import type { WedgeManifest } from '../contract/wedge-manifest.ts'

/** The tools that the model of every wedge may see, and those that a wedge opts into. */
const COMMON_TOOLS = [
  'act',
  'read',
  'workflow',
  'records_get',
  'records_put',
  'records_list',
  'case_get',
  'case_update',
  'report_gap',
  'progress',
  'finish',
] as const
const OPTIONAL_TOOLS = { files: ['write_file', 'read_file', 'list_files'], shell: ['run_command'] } as const

export const KNOWN_TOOLS: ReadonlySet<string> = new Set<string>([
  ...COMMON_TOOLS,
  ...OPTIONAL_TOOLS.files,
  ...OPTIONAL_TOOLS.shell,
])

/** A task's `tools` may only name tools that exist. */
export function checkToolNames(names: readonly string[]): void {
  for (const name of names) if (!KNOWN_TOOLS.has(name)) throw badRequest(`unknown tool '${name}'`)
}

/** The wedge's tools, narrowed by the task's list when it has one; `finish` is how a run ends, so it stays. */
export function toolsOfTask(manifest: Pick<WedgeManifest, 'tools'>, asked: readonly string[]): string[] {
  const all: string[] = [...COMMON_TOOLS, ...manifest.tools.flatMap((group) => OPTIONAL_TOOLS[group])]
  return asked.length === 0 ? all : all.filter((name) => name === 'finish' || asked.includes(name))
}

/** Whether the model's words can become code: such a run gets a cell of its own. */
export const canExecuteCode = (tools: readonly string[]): boolean => tools.includes('run_command')
