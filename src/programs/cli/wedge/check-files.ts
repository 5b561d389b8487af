import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isJsonObject, type Json } from '../../../platform/base/json.ts'
import { toModelToolName } from '../../../platform/contract/connection-tool-names.ts'
import { connectionNames, narrowedTools, type WedgeManifest } from '../../../platform/contract/wedge/wedge-manifest.ts'
import { schemaErrors } from '../../../platform/contract/output-schema.ts'
import { rehearsalProblems } from '../../../platform/contract/rehearsal.ts'
import { isSkillFolder } from '../../../platform/contract/wedge/skill-folder.ts'
import { toolsOfGroups } from '../../../platform/contract/tool-names.ts'
import type { JsonPath } from '../../../platform/base/json-with-lines.ts'
import { checkWorkflowImports } from './check-imports.ts'
import { checkSkillFolders } from './check-skills.ts'
import type { ValidSubset } from './valid-subset.ts'
import { toText } from '../shell/format.ts'
import {
  addError,
  findFileProblem,
  listFilesIn,
  type WedgeInspection,
  type WedgeJsonFile,
  readWedgeJson,
  addWarning,
} from './findings.ts'

/** Checks the files that a manifest names, and the rehearsals. */
export async function checkWedgeFiles(
  inspection: WedgeInspection,
  manifestFile: WedgeJsonFile,
  subset: ValidSubset,
): Promise<void> {
  const { manifest } = subset
  await checkSkillFolders(inspection, manifest)
  for (const { path, file } of listNamedFiles(manifest)) {
    if (await isSkillFolderFile(inspection, file)) continue
    const problem = await findFileProblem(inspection.dir, file)
    if (problem) addError(inspection, manifestFile.file, manifestFile.lineOf(path), `${file} ${problem}`)
    else if (file.endsWith('.mjs')) await checkWorkflowFile(inspection, file)
  }
  const rehearsals = await listFilesIn(inspection.dir, 'rehearsals')
  for (const file of rehearsals.filter((name) => name.endsWith('.json'))) {
    await checkRehearsalFile(inspection, subset, file)
  }
  warnMissingRehearsals(inspection, manifestFile, manifest, rehearsals)
}

function listNamedFiles(manifest: WedgeManifest): { path: JsonPath; file: string }[] {
  return [
    ...toNamedFiles(manifest.skills, ['skills'], skillFile),
    ...toNamedFiles(manifest.knowledge, ['knowledge'], (name) => `knowledge/${name}`),
    ...Object.entries(manifest.task_types).flatMap(([type, { harness }]) => [
      ...toNamedFiles(harness.skills, ['task_types', type, 'harness', 'skills'], skillFile),
      ...toNamedFiles(harness.instructions, ['task_types', type, 'harness', 'instructions'], instructionFile),
    ]),
    ...manifest.workflows.map(({ name }, index) => ({
      path: ['workflows', index, 'name'],
      file: `workflows/${name}.mjs`,
    })),
  ]
}

const toNamedFiles = (names: string[] | undefined, path: JsonPath, toFile: (name: string) => string) =>
  (names ?? []).map((name, index) => ({ path: [...path, index], file: toFile(name) }))
const skillFile = (name: string) => `skills/${name}.md`
const instructionFile = (path: string) => `knowledge/${path.replace(/^(\.\/)?(knowledge\/)?/, '')}`

/** A name in `skills` may also be that of a folder. */
async function isSkillFolderFile({ dir }: WedgeInspection, file: string): Promise<boolean> {
  const [, name] = /^skills\/(.+)\.md$/.exec(file) ?? []
  return name !== undefined && isSkillFolder(dir, name)
}

/** Lets Node parse the file without running it. */
async function checkWorkflowFile(inspection: WedgeInspection, file: string): Promise<void> {
  const path = join(inspection.dir, file)
  try {
    await promisify(execFile)(process.execPath, ['--check', path])
  } catch (error) {
    const output = isJsonObject(error) && typeof error.stderr === 'string' ? error.stderr : String(error)
    const message = /^\w*Error: .*$/m.exec(output)?.[0] ?? 'cannot be parsed by Node'
    return addError(inspection, file, Number(/:(\d+)$/m.exec(output)?.[1] ?? 1), message)
  }
  if (!/\bexport\s+default\b|\bas\s+default\b/.test(await readFile(path, 'utf8'))) {
    addError(inspection, file, 1, 'has no default export (expected `export default function`)')
  }
  await checkWorkflowImports(inspection, file)
}

async function checkRehearsalFile(inspection: WedgeInspection, subset: ValidSubset, name: string): Promise<void> {
  const file = `rehearsals/${name}`
  const type = name.replace(/(\.input|\.records)?\.json$/, '')
  if (!Object.hasOwn(subset.manifest.task_types, type) && subset.isComplete('task_types'))
    return addError(inspection, file, 1, `'${type}' is not a task type of this wedge`)
  const json = await readWedgeJson(inspection, file)
  if (!json) return
  if (name.endsWith('.input.json')) return checkExampleFile(inspection, subset, type, json)
  if (name.endsWith('.records.json')) return checkRecordsFile(inspection, json)
  for (const problem of rehearsalProblems(json.value)) {
    const turn = /^turn (\d+): /.exec(problem)?.[1]
    addError(inspection, file, json.lineOf(turn ? [Number(turn) - 1] : []), problem)
  }
  for (const [index, turn] of (Array.isArray(json.value) ? json.value : []).entries()) {
    const problem = findCallError(subset, isJsonObject(turn) ? turn.call : undefined)
    if (problem) addError(inspection, file, json.lineOf([index, 'call']), `turn ${index + 1}: ${problem}`)
  }
}

function checkExampleFile(inspection: WedgeInspection, subset: ValidSubset, type: string, json: WedgeJsonFile): void {
  const schema = subset.manifest.task_types[type]?.input_schema
  const [error] = schema ? schemaErrors(schema, json.value) : []
  if (error) addError(inspection, json.file, 1, `input${error.path.slice(1)} ${error.message}`)
}

function checkRecordsFile(inspection: WedgeInspection, json: WedgeJsonFile): void {
  if (isJsonObject(json.value) && Object.values(json.value).every(isJsonObject)) return
  addError(inspection, json.file, 1, 'must be {"collection": {"key": value}}')
}

function findCallError({ manifest, isComplete }: ValidSubset, call: Json | undefined): string | null {
  if (!isJsonObject(call) || typeof call.tool !== 'string' || !isJsonObject(call.input)) return null
  const { tool, input } = call
  const known: string[] = toolsOfGroups(manifest.tools)
  if (isComplete('connections') && isConnectionTool(manifest, tool)) return null
  if (!known.includes(tool)) return isComplete('tools') ? `this wedge has no tool '${tool}'` : null
  const workflows = manifest.workflows.map(({ name }) => name)
  if (tool === 'workflow' && isComplete('workflows') && isUnknownName(input.name, workflows)) {
    return `unknown workflow '${toText(input.name)}'`
  }
  const usesConnection = (tool === 'act' || tool === 'read') && isComplete('connections')
  if (usesConnection && isUnknownName(input.connection, connectionNames(manifest))) {
    return `unknown connection '${toText(input.connection)}'`
  }
  return null
}

/** Which tools a connection has is known only where it is registered, unless the wedge lists those that it uses. */
function isConnectionTool(manifest: WedgeManifest, tool: string): boolean {
  const narrowed = narrowedTools(manifest)
  return connectionNames(manifest).some((connection) => {
    const only = narrowed.get(connection)
    if (!only) return tool.startsWith(toModelToolName(connection, ''))
    return only.some((name) => toModelToolName(connection, name) === tool)
  })
}

/** A name with a placeholder is not checked, because its value is known only at run time. */
const isUnknownName = (name: Json | undefined, names: string[]) =>
  typeof name === 'string' && !name.includes('{{') && !names.includes(name)

function warnMissingRehearsals(
  inspection: WedgeInspection,
  manifestFile: WedgeJsonFile,
  manifest: WedgeManifest,
  files: string[],
): void {
  for (const [name, { harness }] of Object.entries(manifest.task_types)) {
    if (harness.shape === 'workflow' || files.includes(`${name}.json`)) continue
    const message = `task type '${name}' has no rehearsals/${name}.json, so it cannot be tested without a model`
    addWarning(inspection, manifestFile.file, manifestFile.lineOf(['task_types', name]), message)
  }
}
