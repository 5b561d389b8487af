import { basename } from 'node:path'
import { complaint } from '../base/complaint.ts'
import { isJsonObject, type Json } from '../base/json.ts'
import { unreachableRules } from '../base/policy.ts'
import { Manifest } from '../base/wedge.ts'
import { checkParts } from './check-parts.ts'
import { checkSchema } from './check-schema.ts'
import type { Path } from './json-places.ts'
import { type SoundPart, soundPart } from './sound-part.ts'
import { unknownKeys } from './unknown-keys.ts'
import { complain, type Finding, type Inspection, type Sheet, sheetOf } from './wedge-findings.ts'

/** Everything that is wrong in a wedge's folder, with file and line; nothing is run. */
export async function checkWedge(dir: string): Promise<Finding[]> {
  const inspection: Inspection = { dir, findings: [] }
  const sheet = await sheetOf(inspection, 'wedge.json')
  if (sheet) await checkManifest(inspection, sheet)
  return distinct(inspection.findings).toSorted((a, b) => order(a, b))
}

/** A value may be found wrong both by its shape and by its sense, in the same words. */
function distinct(findings: Finding[]): Finding[] {
  return [...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values()]
}

const order = (a: Finding, b: Finding) =>
  Number(b.file === 'wedge.json') - Number(a.file === 'wedge.json') || a.file.localeCompare(b.file) || a.line - b.line

async function checkManifest(inspection: Inspection, sheet: Sheet): Promise<void> {
  const at = (path: Path, message: string) => complain(inspection, sheet.file, sheet.lineOf(path), message)
  if (!isJsonObject(sheet.value)) return at([], 'must be an object')
  for (const { path, meant } of unknownKeys(Manifest, sheet.value)) {
    at(path, `unknown key '${path.join('.')}'${meant ? `: do you mean '${meant}'?` : ''}`)
  }
  checkSchemas(inspection, sheet, sheet.value)
  for (const issue of Manifest.safeParse(sheet.value).error?.issues ?? []) {
    const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)))
    if (issue.code !== 'unrecognized_keys') at(path, `${path.join('.')} ${complaint(issue, sheet.value)}`)
  }
  const sound = soundPart(sheet.value)
  if (!sound) return
  checkSense(sound, basename(inspection.dir), (path, message) => at(sound.placeOf(path), message))
  await checkParts(inspection, { ...sheet, lineOf: (path) => sheet.lineOf(sound.placeOf(path)) }, sound)
}

type At = (path: Path, message: string) => void

/** What each key alone cannot show. */
function checkSense({ manifest, placeOf, whole }: SoundPart, folder: string, at: At): void {
  const { wedge } = manifest
  if (wedge !== folder && wedge !== '') at(['wedge'], `wedge is '${wedge}' but the folder is called '${folder}'`)
  const workflows = manifest.workflows.map(({ name }) => name)
  for (const [name, type] of Object.entries(manifest.task_types)) {
    if (type.harness.shape === 'workflow' && !workflows.includes(name) && whole('workflows')) {
      at(['task_types', name], `task type '${name}' has the shape workflow, but workflows declares no '${name}'`)
    }
  }
  const intake = manifest.intake.map(({ id }) => id)
  for (const index of repeats(workflows)) at(['workflows', index], `workflow '${workflows[index]}' is declared twice`)
  for (const index of repeats(intake)) at(['intake', index], `intake has the id '${intake[index]}' twice`)
  const numberOf = (rule: number) => Number(placeOf(['policy', 'auto_approve', rule]).at(-1)) + 1
  for (const { rule, by } of unreachableRules(manifest.policy.auto_approve)) {
    const path = ['policy', 'auto_approve', rule]
    at(path, `policy rule ${numberOf(rule)} is never asked: rule ${numberOf(by)} matches everything that it matches`)
  }
}

const repeats = (names: string[]) => names.flatMap((name, at) => (names.indexOf(name) === at ? [] : [at]))

function checkSchemas(inspection: Inspection, sheet: Sheet, source: Record<string, Json>): void {
  const types = isJsonObject(source.task_types) ? source.task_types : {}
  for (const [name, type] of Object.entries(types)) {
    if (!isJsonObject(type) || type.output_schema === undefined) continue
    const strict = isJsonObject(type.harness) && type.harness.strict_output === true
    checkSchema(inspection, sheet, type.output_schema, ['task_types', name, 'output_schema'], strict)
  }
  for (const [index, workflow] of (Array.isArray(source.workflows) ? source.workflows : []).entries()) {
    for (const key of ['input_schema', 'output_schema']) {
      const schema = isJsonObject(workflow) ? workflow[key] : undefined
      if (schema !== undefined) checkSchema(inspection, sheet, schema, ['workflows', index, key], false)
    }
  }
}
