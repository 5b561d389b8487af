import { badRequest } from '../base/problem.ts'
import type { WedgeManifest } from '../contract/wedge-manifest.ts'

/** The tools of every wedge. */
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
/** The tools that a wedge gets only if its manifest names their group. */
const OPTIONAL_TOOLS = { files: ['write_file', 'read_file', 'list_files'], shell: ['run_command'] } as const

export const KNOWN_TOOLS: ReadonlySet<string> = new Set<string>([
  ...COMMON_TOOLS,
  ...OPTIONAL_TOOLS.files,
  ...OPTIONAL_TOOLS.shell,
])

export function checkToolNames(names: readonly string[]): void {
  for (const name of names) if (!KNOWN_TOOLS.has(name)) throw badRequest(`unknown tool '${name}'`)
}

/** The tools of the wedge, limited to the task's list if it has one. `finish` is always included: a run ends with it. */
export function toolsOfTask(manifest: Pick<WedgeManifest, 'tools'>, requested: readonly string[]): string[] {
  const all: string[] = [...COMMON_TOOLS, ...manifest.tools.flatMap((group) => OPTIONAL_TOOLS[group])]
  return requested.length === 0 ? all : all.filter((name) => name === 'finish' || requested.includes(name))
}

/** Whether the model can run code. Such a run gets a cell of its own. */
export const canExecuteCode = (tools: readonly string[]): boolean => tools.includes('run_command')
