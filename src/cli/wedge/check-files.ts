import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isJsonObject, type Json } from '../../base/json.ts'
import { rehearsalProblems } from '../../contract/rehearsal.ts'
import { toolsOfGroups } from '../../contract/tool-names.ts'
import type { WedgeManifest } from '../../contract/wedge-manifest.ts'
import type { JsonPath } from './json-with-lines.ts'
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

/** The files that a manifest names, and the rehearsals. */
export async function checkWedgeFiles(
  inspection: WedgeInspection,
  sheet: WedgeJsonFile,
  sound: ValidSubset,
): Promise<void> {
  const { manifest } = sound
  for (const { path, file } of listNamedFiles(manifest)) {
    const problem = await findFileProblem(inspection.dir, file)
    if (problem) addError(inspection, sheet.file, sheet.lineOf(path), `${file} ${problem}`)
    else if (file.endsWith('.mjs')) await checkWorkflowFile(inspection, file)
  }
  const rehearsals = await listFilesIn(inspection.dir, 'rehearsals')
  for (const file of rehearsals.filter((name) => name.endsWith('.json'))) {
    await checkRehearsalFile(inspection, sound, file)
  }
  warnMissingRehearsals(inspection, sheet, manifest, rehearsals)
}

function listNamedFiles(manifest: WedgeManifest): { path: JsonPath; file: string }[] {
  return [
    ...toNamedFiles(manifest.skills, ['skills'], skillFile),
    ...toNamedFiles(manifest.knowledge, ['knowledge'], (name) => `knowledge/${name}`),
    ...Object.entries(manifest.task_types).flatMap(([type, { harness }]) => [
      ...toNamedFiles(harness.skills, ['task_types', type, 'harness', 'skills'], skillFile),
      ...toNamedFiles(harness.instructions, ['task_types', type, 'harness', 'instructions'], instructionFile),
    ]),
    ...manifest.workflows.map(({ name }, at) => ({ path: ['workflows', at, 'name'], file: `workflows/${name}.mjs` })),
  ]
}

const toNamedFiles = (names: string[] | undefined, path: JsonPath, fileOf: (name: string) => string) =>
  (names ?? []).map((name, at) => ({ path: [...path, at], file: fileOf(name) }))
const skillFile = (name: string) => `skills/${name}.md`
const instructionFile = (path: string) => `knowledge/${path.replace(/^(\.\/)?(knowledge\/)?/, '')}`

/** Node itself reads the file, without running it. */
async function checkWorkflowFile(inspection: WedgeInspection, file: string): Promise<void> {
  const path = join(inspection.dir, file)
  try {
    await promisify(execFile)(process.execPath, ['--check', path])
  } catch (error) {
    const said = isJsonObject(error) && typeof error.stderr === 'string' ? error.stderr : String(error)
    const message = /^\w*Error: .*$/m.exec(said)?.[0] ?? 'node cannot read it'
    return addError(inspection, file, Number(/:(\d+)$/m.exec(said)?.[1] ?? 1), message)
  }
  if (!/\bexport\s+default\b|\bas\s+default\b/.test(await readFile(path, 'utf8'))) {
    addError(inspection, file, 1, 'has no default export: the service calls `export default function`')
  }
}

async function checkRehearsalFile(inspection: WedgeInspection, sound: ValidSubset, name: string): Promise<void> {
  const file = `rehearsals/${name}`
  const type = name.replace(/(\.input|\.records)?\.json$/, '')
  if (!Object.hasOwn(sound.manifest.task_types, type) && sound.isComplete('task_types'))
    return addError(inspection, file, 1, `'${type}' is no task type of this wedge`)
  const sheet = await readWedgeJson(inspection, file)
  if (!sheet || name.endsWith('.input.json')) return
  if (name.endsWith('.records.json')) return checkRecordsFile(inspection, sheet)
  for (const sentence of rehearsalProblems(sheet.value)) {
    const turn = /^turn (\d+): /.exec(sentence)?.[1]
    addError(inspection, file, sheet.lineOf(turn ? [Number(turn) - 1] : []), sentence)
  }
  for (const [at, turn] of (Array.isArray(sheet.value) ? sheet.value : []).entries()) {
    const fault = findCallError(sound, isJsonObject(turn) ? turn.call : undefined)
    if (fault) addError(inspection, file, sheet.lineOf([at, 'call']), `turn ${at + 1}: ${fault}`)
  }
}

function checkRecordsFile(inspection: WedgeInspection, sheet: WedgeJsonFile): void {
  if (isJsonObject(sheet.value) && Object.values(sheet.value).every(isJsonObject)) return
  addError(inspection, sheet.file, 1, 'must be an object of collections, each an object of values by key')
}

function findCallError({ manifest, isComplete: whole }: ValidSubset, call: Json | undefined): string | null {
  if (!isJsonObject(call) || typeof call.tool !== 'string' || !isJsonObject(call.input)) return null
  const { tool, input } = call
  const known: string[] = toolsOfGroups(manifest.tools)
  if (!known.includes(tool)) return whole('tools') ? `no tool of this wedge is called '${tool}'` : null
  const workflows = manifest.workflows.map(({ name }) => name)
  if (tool === 'workflow' && whole('workflows') && isUnknownName(input.name, workflows)) {
    return `workflows declares no '${toText(input.name)}'`
  }
  const connects = (tool === 'act' || tool === 'read') && whole('connections')
  if (connects && isUnknownName(input.connection, manifest.connections)) {
    return `connections does not list '${toText(input.connection)}'`
  }
  return null
}

/** A placeholder may become any name. */
const isUnknownName = (name: Json | undefined, names: string[]) =>
  typeof name === 'string' && !name.includes('{{') && !names.includes(name)

function warnMissingRehearsals(
  inspection: WedgeInspection,
  sheet: WedgeJsonFile,
  manifest: WedgeManifest,
  files: string[],
): void {
  for (const [name, { harness }] of Object.entries(manifest.task_types)) {
    if (harness.shape === 'workflow' || files.includes(`${name}.json`)) continue
    const message = `task type '${name}' has no rehearsals/${name}.json: it cannot be tried without a model`
    addWarning(inspection, sheet.file, sheet.lineOf(['task_types', name]), message)
  }
}
