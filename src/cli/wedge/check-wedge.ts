import { basename } from 'node:path'
import { issueMessage } from '../../base/issue-message.ts'
import { isJsonObject, type Json } from '../../base/json.ts'
import { unreachableRules } from '../../contract/policy.ts'
import { WedgeManifest } from '../../contract/wedge-manifest.ts'
import { checkWedgeFiles } from './check-files.ts'
import { checkJsonSchema } from './check-schema.ts'
import type { JsonPath } from './json-with-lines.ts'
import { type ValidSubset, findValidSubset } from './valid-subset.ts'
import { findUnknownKeys } from './unknown-keys.ts'
import { addError, type WedgeFinding, type WedgeInspection, type WedgeJsonFile, readWedgeJson } from './findings.ts'

/** Everything that is wrong in a wedge's folder, with file and line; nothing is run. */
export async function checkWedge(dir: string): Promise<WedgeFinding[]> {
  const inspection: WedgeInspection = { dir, findings: [] }
  const sheet = await readWedgeJson(inspection, 'wedge.json')
  if (sheet) await checkManifest(inspection, sheet)
  return removeDuplicates(inspection.findings).toSorted((a, b) => compareFindings(a, b))
}

/** A value may be found wrong both by its shape and by its sense, in the same words. */
function removeDuplicates(findings: WedgeFinding[]): WedgeFinding[] {
  return [...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values()]
}

const compareFindings = (a: WedgeFinding, b: WedgeFinding) =>
  Number(b.file === 'wedge.json') - Number(a.file === 'wedge.json') || a.file.localeCompare(b.file) || a.line - b.line

async function checkManifest(inspection: WedgeInspection, sheet: WedgeJsonFile): Promise<void> {
  const at = (path: JsonPath, message: string) => addError(inspection, sheet.file, sheet.lineOf(path), message)
  if (!isJsonObject(sheet.value)) return at([], 'must be an object')
  for (const { path, meant } of findUnknownKeys(WedgeManifest, sheet.value)) {
    at(path, `unknown key '${path.join('.')}'${meant ? `: do you mean '${meant}'?` : ''}`)
  }
  checkSchemas(inspection, sheet, sheet.value)
  for (const issue of WedgeManifest.safeParse(sheet.value).error?.issues ?? []) {
    const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)))
    if (issue.code !== 'unrecognized_keys') at(path, `${path.join('.')} ${issueMessage(issue, sheet.value)}`)
  }
  const sound = findValidSubset(sheet.value)
  if (!sound) return
  checkConsistency(sound, basename(inspection.dir), (path, message) => at(sound.pathInFile(path), message))
  await checkWedgeFiles(inspection, { ...sheet, lineOf: (path) => sheet.lineOf(sound.pathInFile(path)) }, sound)
}

type ReportError = (path: JsonPath, message: string) => void

/** What each key alone cannot show. */
function checkConsistency(
  { manifest, pathInFile: placeOf, isComplete: whole }: ValidSubset,
  folder: string,
  at: ReportError,
): void {
  const { wedge } = manifest
  if (wedge !== folder && wedge !== '') at(['wedge'], `wedge is '${wedge}' but the folder is called '${folder}'`)
  const workflows = manifest.workflows.map(({ name }) => name)
  for (const [name, type] of Object.entries(manifest.task_types)) {
    if (type.harness.shape === 'workflow' && !workflows.includes(name) && whole('workflows')) {
      at(['task_types', name], `task type '${name}' has the shape workflow, but workflows declares no '${name}'`)
    }
  }
  const intake = manifest.intake.map(({ id }) => id)
  for (const index of duplicateIndexes(workflows))
    at(['workflows', index], `workflow '${workflows[index]}' is declared twice`)
  for (const index of duplicateIndexes(intake)) at(['intake', index], `intake has the id '${intake[index]}' twice`)
  const numberOf = (rule: number) => Number(placeOf(['policy', 'auto_approve', rule]).at(-1)) + 1
  for (const { rule, by } of unreachableRules(manifest.policy.auto_approve)) {
    const path = ['policy', 'auto_approve', rule]
    at(path, `policy rule ${numberOf(rule)} is never asked: rule ${numberOf(by)} matches everything that it matches`)
  }
}

const duplicateIndexes = (names: string[]) => names.flatMap((name, at) => (names.indexOf(name) === at ? [] : [at]))

function checkSchemas(inspection: WedgeInspection, sheet: WedgeJsonFile, source: Record<string, Json>): void {
  const types = isJsonObject(source.task_types) ? source.task_types : {}
  for (const [name, type] of Object.entries(types)) {
    if (!isJsonObject(type) || type.output_schema === undefined) continue
    const strict = isJsonObject(type.harness) && type.harness.strict_output === true
    checkJsonSchema(inspection, sheet, type.output_schema, ['task_types', name, 'output_schema'], strict)
  }
  for (const [index, workflow] of (Array.isArray(source.workflows) ? source.workflows : []).entries()) {
    for (const key of ['input_schema', 'output_schema']) {
      const schema = isJsonObject(workflow) ? workflow[key] : undefined
      if (schema !== undefined) checkJsonSchema(inspection, sheet, schema, ['workflows', index, key], false)
    }
  }
}
