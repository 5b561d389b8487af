import { basename } from 'node:path'
import { issueMessage } from '../../../platform/base/issue-message.ts'
import { isJsonObject, type Json } from '../../../platform/base/json.ts'
import { DEFAULT_AGENT_MAX_MEMORY_MB, findLargeAgents } from '../../../platform/contract/wedge/declared-agents.ts'
import { DEFAULT_APPROVAL_TTL_MAX_S, findLongApprovals } from '../../../platform/contract/wedge/declared-approvals.ts'
import { schemaErrors } from '../../../platform/contract/output-schema.ts'
import { unreachableRules } from '../../../platform/contract/policy.ts'
import { findSchemaProblems } from '../../../platform/contract/schema-problems.ts'
import { WedgeManifest } from '../../../platform/contract/wedge/wedge-manifest.ts'
import type { CommandContext } from '../shell/command.ts'
import { checkAgents } from './check-agents.ts'
import { checkWedgeFiles } from './check-files.ts'
import type { JsonPath } from '../../../platform/base/json-with-lines.ts'
import { type ValidSubset, findValidSubset } from './valid-subset.ts'
import { findUnknownKeys } from './unknown-keys.ts'
import {
  addError,
  addWarning,
  type WedgeFinding,
  type WedgeInspection,
  type WedgeJsonFile,
  readWedgeJson,
} from './findings.ts'

/** Finds all errors in the folder of a wedge, with file and line. Runs no code of the wedge. */
export async function checkWedge(env: CommandContext['env'], dir: string): Promise<WedgeFinding[]> {
  const limits = {
    maxApprovalTtlS: Number(env.SVC_APPROVAL_TTL_MAX_S) || DEFAULT_APPROVAL_TTL_MAX_S,
    maxMemoryMb: Number(env.SVC_AGENT_MAX_MEMORY_MB) || DEFAULT_AGENT_MAX_MEMORY_MB,
    searchPath: env.PATH ?? '',
  }
  const inspection: WedgeInspection = { dir, findings: [] }
  const json = await readWedgeJson(inspection, 'wedge.json')
  if (json) await checkManifest(inspection, json, limits)
  return removeDuplicates(inspection.findings).toSorted((a, b) => compareFindings(a, b))
}

/** Two checks may find the same error and describe it with the same words. */
function removeDuplicates(findings: WedgeFinding[]): WedgeFinding[] {
  return [...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values()]
}

const compareFindings = (a: WedgeFinding, b: WedgeFinding) =>
  Number(b.file === 'wedge.json') - Number(a.file === 'wedge.json') || a.file.localeCompare(b.file) || a.line - b.line

/** What the deployment allows, and where its programs are. */
interface DeploymentLimits {
  maxApprovalTtlS: number
  maxMemoryMb: number
  searchPath: string
}

async function checkManifest(
  inspection: WedgeInspection,
  json: WedgeJsonFile,
  { maxApprovalTtlS, maxMemoryMb, searchPath }: DeploymentLimits,
): Promise<void> {
  const report: ReportError = (path, message) => addError(inspection, json.file, json.lineOf(path), message)
  if (!isJsonObject(json.value)) return report([], 'must be an object')
  for (const { path, suggestion } of findUnknownKeys(WedgeManifest, json.value)) {
    report(path, `unknown key '${path.join('.')}'${suggestion ? ` (did you mean '${suggestion}'?)` : ''}`)
  }
  checkSchemas(inspection, json, json.value)
  for (const issue of WedgeManifest.safeParse(json.value).error?.issues ?? []) {
    const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)))
    if (issue.code !== 'unrecognized_keys') report(path, `${path.join('.')} ${issueMessage(issue, json.value)}`)
  }
  const subset = findValidSubset(json.value)
  if (!subset) return
  checkConsistency(subset, basename(inspection.dir), (path, message) => report(subset.pathInFile(path), message))
  const { manifest } = subset
  for (const { path, message } of [
    ...findLongApprovals(manifest, maxApprovalTtlS),
    ...findLargeAgents(manifest, maxMemoryMb),
  ]) {
    const inFile = subset.pathInFile(path)
    report(inFile, `${inFile.join('.')} ${message}`)
  }
  const manifestFile: WedgeJsonFile = { ...json, lineOf: (path) => json.lineOf(subset.pathInFile(path)) }
  await checkWedgeFiles(inspection, manifestFile, subset)
  await checkAgents(inspection, manifestFile, manifest, searchPath)
}

type ReportError = (path: JsonPath, message: string) => void

/** Checks keys against each other. */
function checkConsistency(
  { manifest, pathInFile, isComplete }: ValidSubset,
  folder: string,
  report: ReportError,
): void {
  const { wedge } = manifest
  if (wedge !== folder && wedge !== '') report(['wedge'], `field 'wedge' is '${wedge}', but the folder is '${folder}'`)
  const workflows = manifest.workflows.map(({ name }) => name)
  for (const [name, type] of Object.entries(manifest.task_types)) {
    if (type.harness.shape === 'workflow' && !workflows.includes(name) && isComplete('workflows')) {
      report(['task_types', name], `task type '${name}' has the shape workflow, but there is no workflow '${name}'`)
    }
  }
  for (const [name, { input_schema, example }] of Object.entries(manifest.task_types)) {
    const [error] = input_schema && example !== undefined ? schemaErrors(input_schema, example) : []
    if (error) report(['task_types', name, 'example'], `example${error.path.slice(1)} ${error.message}`)
  }
  const intake = manifest.intake.map(({ id }) => id)
  for (const index of duplicateIndexes(workflows))
    report(['workflows', index], `workflow '${workflows[index]}' is declared twice`)
  for (const index of duplicateIndexes(intake))
    report(['intake', index], `intake id '${intake[index]}' is declared twice`)
  const numberOf = (rule: number) => Number(pathInFile(['policy', 'auto_approve', rule]).at(-1)) + 1
  for (const { rule, by } of unreachableRules(manifest.policy.auto_approve)) {
    const path = ['policy', 'auto_approve', rule]
    report(path, `policy rule ${numberOf(rule)} never applies: rule ${numberOf(by)} already matches the same actions`)
  }
}

const duplicateIndexes = (names: string[]) =>
  names.flatMap((name, index) => (names.indexOf(name) === index ? [] : [index]))

function checkSchemas(inspection: WedgeInspection, json: WedgeJsonFile, source: Record<string, Json>): void {
  const types = isJsonObject(source.task_types) ? source.task_types : {}
  for (const [name, type] of Object.entries(types)) {
    if (!isJsonObject(type)) continue
    const { input_schema, output_schema } = type
    const strict = isJsonObject(type.harness) && type.harness.strict_output === true
    const path = ['task_types', name]
    if (input_schema !== undefined) checkJsonSchema(inspection, json, input_schema, [...path, 'input_schema'], false)
    if (output_schema !== undefined)
      checkJsonSchema(inspection, json, output_schema, [...path, 'output_schema'], strict)
  }
  for (const [index, workflow] of (Array.isArray(source.workflows) ? source.workflows : []).entries()) {
    for (const key of ['input_schema', 'output_schema']) {
      const schema = isJsonObject(workflow) ? workflow[key] : undefined
      if (schema !== undefined) checkJsonSchema(inspection, json, schema, ['workflows', index, key], false)
    }
  }
}

/**
 * Reports schemas that check less than they seem to, because the validator ignores invalid and unknown keywords.
 * `strict`: the model's provider also enforces the schema, and it supports more keywords.
 */
function checkJsonSchema(
  inspection: WedgeInspection,
  json: WedgeJsonFile,
  schema: Json,
  path: JsonPath,
  strict: boolean,
): void {
  for (const { kind, path: at, message } of findSchemaProblems(schema, path)) {
    const report = kind === 'invalid' ? addError : addWarning
    if (kind !== 'unchecked' || !strict) report(inspection, json.file, json.lineOf(at), `${at.join('.')} ${message}`)
  }
}
