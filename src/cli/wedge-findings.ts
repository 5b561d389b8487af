import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { insideRoot } from '../base/names.ts'
import { JsonFault, type PlacedJson, placedJson } from './json-places.ts'

export interface Finding {
  level: 'error' | 'warning'
  file: string
  line: number
  message: string
}

/** A wedge's folder while it is checked: what is in it, and what was found wrong. */
export interface Inspection {
  dir: string
  findings: Finding[]
}

/** A JSON file of the wedge, to complain about with lines. */
export interface Sheet extends PlacedJson {
  file: string
}

export function complain({ findings }: Inspection, file: string, line: number, message: string): void {
  findings.push({ level: 'error', file, line, message })
}

export function warn({ findings }: Inspection, file: string, line: number, message: string): void {
  findings.push({ level: 'warning', file, line, message })
}

/** Null when it cannot be read, which is then among the findings. */
export async function sheetOf(inspection: Inspection, file: string): Promise<Sheet | null> {
  const problem = await fileProblem(inspection.dir, file)
  if (problem) {
    complain(inspection, file, 1, problem)
    return null
  }
  try {
    const placed = placedJson(await readFile(join(inspection.dir, file), 'utf8'))
    for (const { key, line } of placed.repeated) complain(inspection, file, line, `the key "${key}" stands here again`)
    return { ...placed, file }
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error
    complain(inspection, file, error.line, error.message)
    return null
  }
}

const FILE_MOST = 1024 * 1024

/** Why the service could not use a file of the wedge; null when it can. */
export async function fileProblem(dir: string, file: string): Promise<string | null> {
  const path = await insideRoot(dir, file)
  if (!path) return 'is missing, or a link that leads out of the folder'
  const found = await stat(path)
  if (!found.isFile()) return 'is not a file'
  if (found.size > FILE_MOST) return `has more than ${FILE_MOST} bytes`
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

export async function filesIn(dir: string, part: string): Promise<string[]> {
  const entries = await readdir(join(dir, part), { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort()
}
