import { badRequest } from '../base/problem.ts'
import type { Manifest } from '../base/wedge.ts'

/** The tools that the model of every wedge may see, and those that a wedge opts into. */
const COMMON = [
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
const OPTIONAL = { files: ['write_file', 'read_file', 'list_files'], shell: ['run_command'] } as const

export const KNOWN_TOOLS: ReadonlySet<string> = new Set<string>([...COMMON, ...OPTIONAL.files, ...OPTIONAL.shell])

/** A task's `tools` may only name tools that exist. */
export function checkToolNames(names: readonly string[]): void {
  for (const name of names) if (!KNOWN_TOOLS.has(name)) throw badRequest(`unknown tool '${name}'`)
}

/** The wedge's tools, narrowed by the task's list when it has one; `finish` is how a run ends, so it stays. */
export function toolsFor(manifest: Pick<Manifest, 'tools'>, asked: readonly string[]): string[] {
  const all: string[] = [...COMMON, ...manifest.tools.flatMap((group) => OPTIONAL[group])]
  return asked.length === 0 ? all : all.filter((name) => name === 'finish' || asked.includes(name))
}

/** Whether the model's words can become code: such a run gets a cell of its own. */
export const executesCode = (tools: readonly string[]): boolean => tools.includes('run_command')
