import { basename } from 'node:path'
import type { z } from 'zod'
import { isJsonObject, type Json } from '../base/json.ts'
import { unreachableRules } from '../base/policy.ts'
import { Manifest } from '../base/wedge.ts'
import { checkParts } from './check-parts.ts'
import { checkSchema } from './check-schema.ts'
import type { Path } from './json-places.ts'
import { unknownKeys } from './unknown-keys.ts'
import { complain, type Finding, type Inspection, type Sheet, sheetOf } from './wedge-findings.ts'

/** Everything that is wrong in a wedge's folder, with file and line; nothing is run. */
export async function checkWedge(dir: string): Promise<Finding[]> {
  const inspection: Inspection = { dir, findings: [] }
  const sheet = await sheetOf(inspection, 'wedge.json')
  if (sheet) await checkManifest(inspection, sheet)
  return inspection.findings.toSorted((a, b) => order(a, b))
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
  const parsed = Manifest.safeParse(sheet.value)
  for (const issue of parsed.error?.issues ?? []) at(pathOf(issue), sentence(issue))
  if (!parsed.success) return
  checkSense(parsed.data, basename(inspection.dir), at)
  await checkParts(inspection, sheet, parsed.data)
}

const pathOf = (issue: z.core.$ZodIssue): Path => issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key))

function sentence(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String).join('.')
  const inner = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message
  const message = inner.replace(/^Invalid (input|option): /, '')
  if (message.endsWith('received undefined')) return `${path} is required`
  return `${path} ${message.replace(/^expected/, 'must be')}`.trim()
}

type At = (path: Path, message: string) => void

/** What each key alone cannot show. */
function checkSense(manifest: Manifest, folder: string, at: At): void {
  if (manifest.wedge !== folder) at(['wedge'], `wedge is '${manifest.wedge}' but the folder is called '${folder}'`)
  const workflows = manifest.workflows.map(({ name }) => name)
  for (const [name, type] of Object.entries(manifest.task_types)) {
    if (type.harness.shape === 'workflow' && !workflows.includes(name)) {
      at(['task_types', name], `task type '${name}' has the shape workflow, but workflows declares no '${name}'`)
    }
  }
  const intake = manifest.intake.map(({ id }) => id)
  for (const index of repeats(workflows)) at(['workflows', index], `workflow '${workflows[index]}' is declared twice`)
  for (const index of repeats(intake)) at(['intake', index], `intake has the id '${intake[index]}' twice`)
  for (const { rule, by } of unreachableRules(manifest.policy.auto_approve)) {
    const path = ['policy', 'auto_approve', rule]
    at(path, `policy rule ${rule + 1} is never asked: rule ${by + 1} matches everything that it matches`)
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
