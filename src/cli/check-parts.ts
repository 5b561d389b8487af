import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isJsonObject, type Json } from '../base/json.ts'
import { checkRehearsal } from '../base/rehearsal.ts'
import type { Manifest } from '../base/wedge.ts'
import type { Path } from './json-places.ts'
import type { SoundPart } from './sound-part.ts'
import { textOf } from './table.ts'
import { complain, fileProblem, filesIn, type Inspection, type Sheet, sheetOf, warn } from './wedge-findings.ts'

/** The files that a manifest names, and the rehearsals. */
export async function checkParts(inspection: Inspection, sheet: Sheet, sound: SoundPart): Promise<void> {
  const { manifest } = sound
  for (const { path, file } of namedFiles(manifest)) {
    const problem = await fileProblem(inspection.dir, file)
    if (problem) complain(inspection, sheet.file, sheet.lineOf(path), `${file} ${problem}`)
    else if (file.endsWith('.mjs')) await checkWorkflow(inspection, file)
  }
  const rehearsals = await filesIn(inspection.dir, 'rehearsals')
  for (const file of rehearsals.filter((name) => name.endsWith('.json'))) {
    await checkOneRehearsal(inspection, sound, file)
  }
  warnOfUnrehearsed(inspection, sheet, manifest, rehearsals)
}

function namedFiles(manifest: Manifest): { path: Path; file: string }[] {
  return [
    ...named(manifest.skills, ['skills'], skill),
    ...named(manifest.knowledge, ['knowledge'], (name) => `knowledge/${name}`),
    ...Object.entries(manifest.task_types).flatMap(([type, { harness }]) => [
      ...named(harness.skills, ['task_types', type, 'harness', 'skills'], skill),
      ...named(harness.instructions, ['task_types', type, 'harness', 'instructions'], instruction),
    ]),
    ...manifest.workflows.map(({ name }, at) => ({ path: ['workflows', at, 'name'], file: `workflows/${name}.mjs` })),
  ]
}

const named = (names: string[] | undefined, path: Path, fileOf: (name: string) => string) =>
  (names ?? []).map((name, at) => ({ path: [...path, at], file: fileOf(name) }))
const skill = (name: string) => `skills/${name}.md`
const instruction = (path: string) => `knowledge/${path.replace(/^(\.\/)?(knowledge\/)?/, '')}`

/** Node itself reads the file, without running it. */
async function checkWorkflow(inspection: Inspection, file: string): Promise<void> {
  const path = join(inspection.dir, file)
  try {
    await promisify(execFile)(process.execPath, ['--check', path])
  } catch (error) {
    const said = isJsonObject(error) && typeof error.stderr === 'string' ? error.stderr : String(error)
    const message = /^\w*Error: .*$/m.exec(said)?.[0] ?? 'node cannot read it'
    return complain(inspection, file, Number(/:(\d+)$/m.exec(said)?.[1] ?? 1), message)
  }
  if (!/\bexport\s+default\b|\bas\s+default\b/.test(await readFile(path, 'utf8'))) {
    complain(inspection, file, 1, 'has no default export: the service calls `export default function`')
  }
}

async function checkOneRehearsal(inspection: Inspection, sound: SoundPart, name: string): Promise<void> {
  const file = `rehearsals/${name}`
  const type = name.replace(/(\.input|\.records)?\.json$/, '')
  if (!Object.hasOwn(sound.manifest.task_types, type) && sound.whole('task_types'))
    return complain(inspection, file, 1, `'${type}' is no task type of this wedge`)
  const sheet = await sheetOf(inspection, file)
  if (!sheet || name.endsWith('.input.json')) return
  if (name.endsWith('.records.json')) return checkRecords(inspection, sheet)
  for (const sentence of checkRehearsal(sheet.value)) {
    const turn = /^turn (\d+): /.exec(sentence)?.[1]
    complain(inspection, file, sheet.lineOf(turn ? [Number(turn) - 1] : []), sentence)
  }
  for (const [at, turn] of (Array.isArray(sheet.value) ? sheet.value : []).entries()) {
    const fault = faultOfCall(sound, isJsonObject(turn) ? turn.call : undefined)
    if (fault) complain(inspection, file, sheet.lineOf([at, 'call']), `turn ${at + 1}: ${fault}`)
  }
}

function checkRecords(inspection: Inspection, sheet: Sheet): void {
  if (isJsonObject(sheet.value) && Object.values(sheet.value).every(isJsonObject)) return
  complain(inspection, sheet.file, 1, 'must be an object of collections, each an object of values by key')
}

const TOOLS = ['act', 'read', 'workflow', 'records_get', 'records_put', 'records_list', 'case_get', 'case_update']
const OTHER_TOOLS = ['report_gap', 'progress', 'finish']
const FILE_TOOLS = ['write_file', 'read_file', 'list_files']

function faultOfCall({ manifest, whole }: SoundPart, call: Json | undefined): string | null {
  if (!isJsonObject(call) || typeof call.tool !== 'string' || !isJsonObject(call.input)) return null
  const { tool, input } = call
  const has = (name: 'files' | 'shell') => manifest.tools.includes(name)
  const known = [
    ...TOOLS,
    ...OTHER_TOOLS,
    ...(has('files') ? FILE_TOOLS : []),
    ...(has('shell') ? ['run_command'] : []),
  ]
  if (!known.includes(tool)) return whole('tools') ? `no tool of this wedge is called '${tool}'` : null
  const workflows = manifest.workflows.map(({ name }) => name)
  if (tool === 'workflow' && whole('workflows') && unnamed(input.name, workflows)) {
    return `workflows declares no '${textOf(input.name)}'`
  }
  const connects = (tool === 'act' || tool === 'read') && whole('connections')
  if (connects && unnamed(input.connection, manifest.connections)) {
    return `connections does not list '${textOf(input.connection)}'`
  }
  return null
}

/** A placeholder may become any name. */
const unnamed = (name: Json | undefined, names: string[]) =>
  typeof name === 'string' && !name.includes('{{') && !names.includes(name)

function warnOfUnrehearsed(inspection: Inspection, sheet: Sheet, manifest: Manifest, files: string[]): void {
  for (const [name, { harness }] of Object.entries(manifest.task_types)) {
    if (harness.shape === 'workflow' || files.includes(`${name}.json`)) continue
    const message = `task type '${name}' has no rehearsals/${name}.json: it cannot be tried without a model`
    warn(inspection, sheet.file, sheet.lineOf(['task_types', name]), message)
  }
}
