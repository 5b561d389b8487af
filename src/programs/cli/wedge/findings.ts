import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { realpathInside } from '../../../platform/base/real-path.ts'
import { JsonSyntaxError, type JsonWithLines, parseJsonWithLines } from '../../../platform/base/json-with-lines.ts'

export interface WedgeFinding {
  level: 'error' | 'warning'
  file: string
  line: number
  message: string
}

/** The folder of a wedge, and what the checks have found in it so far. */
export interface WedgeInspection {
  dir: string
  findings: WedgeFinding[]
}

/** A JSON file of the wedge whose errors can be reported with a line. */
export interface WedgeJsonFile extends JsonWithLines {
  file: string
}

export function addError({ findings }: WedgeInspection, file: string, line: number, message: string): void {
  findings.push({ level: 'error', file, line, message })
}

export function addWarning({ findings }: WedgeInspection, file: string, line: number, message: string): void {
  findings.push({ level: 'warning', file, line, message })
}

/** Returns null, and adds an error, if the file cannot be read. */
export async function readWedgeJson(inspection: WedgeInspection, file: string): Promise<WedgeJsonFile | null> {
  const problem = await findFileProblem(inspection.dir, file)
  if (problem) {
    addError(inspection, file, 1, problem)
    return null
  }
  try {
    const json = parseJsonWithLines(await readFile(join(inspection.dir, file), 'utf8'))
    for (const { key, line } of json.duplicateKeys) addError(inspection, file, line, `duplicate key "${key}"`)
    return { ...json, file }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    addError(inspection, file, error.line, error.message)
    return null
  }
}

const MAX_WEDGE_FILE_BYTES = 1024 * 1024

/** Says why the service cannot use a file of the wedge, or returns null. */
export async function findFileProblem(dir: string, file: string): Promise<string | null> {
  const path = await realpathInside(dir, file)
  if (!path) return 'does not exist, or is a link to a file outside the folder'
  const stats = await stat(path)
  if (!stats.isFile()) return 'is not a file'
  if (stats.size > MAX_WEDGE_FILE_BYTES) return `has more than ${MAX_WEDGE_FILE_BYTES} bytes`
  return isUtf8(await readFile(path)) ? null : 'is not UTF-8 text'
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

export async function listFilesIn(dir: string, part: string): Promise<string[]> {
  const entries = await readdir(join(dir, part), { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort()
}
