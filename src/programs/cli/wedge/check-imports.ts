import { readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { WORKFLOW_MODULES, workflowModuleName } from '../../../platform/contract/workflow-protocol.ts'
import { addError, findFileProblem, type WedgeInspection } from './findings.ts'

const STATIC_IMPORT =
  /^[ \t]*(?:import\s*(?:[\w*{][^'"`;]*?\bfrom\s*)?|export\s*[*{][^'"`;]*?\bfrom\s*)['"](?<name>[^'"\n]+)['"]/gm
const DYNAMIC_IMPORT = /\bimport\s*\(\s*['"](?<name>[^'"\n]+)['"]/g

/** Checks the imports of a workflow file and of the files that it imports. `checked` has the files that are done. */
export async function checkWorkflowImports(
  inspection: WedgeInspection,
  file: string,
  checked = new Set<string>(),
): Promise<void> {
  if (checked.has(file)) return
  checked.add(file)
  const source = await readFile(join(inspection.dir, file), 'utf8')
  for (const { name, line } of listImports(source)) {
    const imported = /^\.\.?\//.test(name) ? posix.join(posix.dirname(file), name) : null
    const problem = imported === null ? findModuleProblem(name) : await findImportedFileProblem(inspection, imported)
    if (problem !== null) addError(inspection, file, line, `imports '${name}', which ${problem}`)
    else if (imported !== null) await checkWorkflowImports(inspection, imported, checked)
  }
}

function listImports(source: string): { name: string; line: number }[] {
  return [...source.matchAll(STATIC_IMPORT), ...source.matchAll(DYNAMIC_IMPORT)].map((match) => ({
    name: match.groups?.['name'] ?? '',
    line: source.slice(0, match.index + match[0].length).split('\n').length,
  }))
}

function findModuleProblem(name: string): string | null {
  if (workflowModuleName(name) !== null) return null
  const offered = WORKFLOW_MODULES.map((known) => `node:${known}`).join(', ')
  return `workflows cannot use (expected a file of the wedge or ${offered})`
}

async function findImportedFileProblem({ dir }: WedgeInspection, file: string): Promise<string | null> {
  if (!file.startsWith('workflows/') || !file.endsWith('.mjs')) return 'is not a .mjs file below workflows/'
  return findFileProblem(dir, file)
}
