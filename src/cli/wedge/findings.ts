import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { realpathInside } from '../../base/slug.ts'
import { JsonSyntaxError, type JsonWithLines, parseJsonWithLines } from './json-with-lines.ts'

export interface WedgeFinding {
  level: 'error' | 'warning'
  file: string
  line: number
  message: string
}

/** A wedge's folder while it is checked: what is in it, and what was found wrong. */
export interface WedgeInspection {
  dir: string
  findings: WedgeFinding[]
}

/** A JSON file of the wedge, to complain about with lines. */
export interface WedgeJsonFile extends JsonWithLines {
  file: string
}

export function addError({ findings }: WedgeInspection, file: string, line: number, message: string): void {
  findings.push({ level: 'error', file, line, message })
}

export function addWarning({ findings }: WedgeInspection, file: string, line: number, message: string): void {
  findings.push({ level: 'warning', file, line, message })
}

/** Null when it cannot be read, which is then among the findings. */
export async function readWedgeJson(inspection: WedgeInspection, file: string): Promise<WedgeJsonFile | null> {
  const problem = await findFileProblem(inspection.dir, file)
  if (problem) {
    addError(inspection, file, 1, problem)
    return null
  }
  try {
    const placed = parseJsonWithLines(await readFile(join(inspection.dir, file), 'utf8'))
    for (const { key, line } of placed.duplicateKeys)
      addError(inspection, file, line, `the key "${key}" stands here again`)
    return { ...placed, file }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    addError(inspection, file, error.line, error.message)
    return null
  }
}

const MAX_WEDGE_FILE_BYTES = 1024 * 1024

/** Why the service could not use a file of the wedge; null when it can. */
export async function findFileProblem(dir: string, file: string): Promise<string | null> {
  const path = await realpathInside(dir, file)
  if (!path) return 'is missing, or a link that leads out of the folder'
  const found = await stat(path)
  if (!found.isFile()) return 'is not a file'
  if (found.size > MAX_WEDGE_FILE_BYTES) return `has more than ${MAX_WEDGE_FILE_BYTES} bytes`
  return isUtf8(await readFile(path)) ? null : 'is not text in utf-8'
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
