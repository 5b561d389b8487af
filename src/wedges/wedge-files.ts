import { lstat, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Json } from '../base/json.ts'
import { errorMessage } from '../base/error-message.ts'
import { realpathInside } from '../base/slug.ts'
import { parseStrictJson } from '../base/strict-json.ts'

export const MAX_LOADED_FILE_BYTES = 1024 * 1024
const WEDGE_PARTS = ['skills', 'knowledge', 'rehearsals', 'workflows'] as const
const MAX_CODE_DEPTH = 8
/** Files with other names, such as hidden ones, are nobody's workflow and are not taken along. */
const CODE_FILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\.mjs$/
const CODE_FOLDER_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/

/** Why a file of a wedge cannot be used: names the file, so its author knows where to look. */
export class WedgeFileError extends Error {}

/** The folders that hold a `wedge.json`, whatever they are called; null when there is no such directory at all. */
export async function scanWedgeFolders(root: string): Promise<string[] | null> {
  const names = await listNames(root)
  if (!names) return null
  const found = await Promise.all(names.map((name) => hasManifest(join(root, name))))
  return names.filter((_, at) => found[at])
}

/** The names of the files in a part of the wedge; hidden files and folders are nobody's skill. */
export async function listPartFiles(dir: string, part: (typeof WEDGE_PARTS)[number]): Promise<string[]> {
  const names = (await listNames(join(dir, part))) ?? []
  const marks = await Promise.all(names.map((name) => statOrNull(join(dir, part, name))))
  return names.filter((_, at) => !marks[at]?.isDirectory())
}

/** The files below `workflows/`, by their path there. */
export const listCodeFiles = (dir: string): Promise<string[]> =>
  listCodeFilesBelow(join(dir, 'workflows'), '', MAX_CODE_DEPTH)

/** Links to folders are not followed: they may lead back, or out. */
async function listCodeFilesBelow(folder: string, prefix: string, levels: number): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isOutOfFileHandles(error)) throw error
    return []
  })
  const found = entries.map(async (entry): Promise<string[]> => {
    if (!entry.isDirectory()) return CODE_FILE_NAME.test(entry.name) ? [prefix + entry.name] : []
    if (levels === 1 || !CODE_FOLDER_NAME.test(entry.name)) return []
    return listCodeFilesBelow(join(folder, entry.name), `${prefix}${entry.name}/`, levels - 1)
  })
  return (await Promise.all(found)).flat()
}

/** Changes when any file of the wedge does, and costs no reading. */
export async function fingerprintWedge(dir: string): Promise<{ mark: string; folders: string[] }> {
  const parts = await Promise.all(WEDGE_PARTS.map(async (part) => ({ part, names: await listNames(join(dir, part)) })))
  const below = (await listCodeFiles(dir)).filter((name) => name.includes('/')).map((name) => `workflows/${name}`)
  const inParts = parts.flatMap(({ part, names }) => (names ?? []).map((name) => `${part}/${name}`))
  const files = ['wedge.json', ...inParts, ...below.sort()]
  const marks = await Promise.all(files.map((file) => fingerprintFile(dir, file)))
  const folders = parts.filter(({ names }) => names !== null).map(({ part }) => join(dir, part))
  return { mark: marks.join('\n'), folders: [dir, ...folders] }
}

/** A file of the wedge as text. Names come from the manifest, so they must not lead out of the folder. */
export async function loadWedgeText(dir: string, part: string, name: string): Promise<string> {
  const bytes = await loadWedgeBytes(dir, part, name)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new WedgeFileError(`${join(part, name)} is not text in utf-8`)
  }
}

export async function loadWedgeJson(dir: string, part: string, name: string): Promise<Json> {
  const text = await loadWedgeText(dir, part, name)
  try {
    return parseStrictJson(Buffer.from(text))
  } catch (error) {
    throw new WedgeFileError(`${join(part, name)}: ${describeSyntaxError(text) ?? errorMessage(error)}`)
  }
}

/** Where the text stops being JSON: more than a stranger is told, for the author to find the place. */
function describeSyntaxError(text: string): string | null {
  try {
    JSON.parse(text)
    return null
  } catch (error) {
    return `malformed json: ${errorMessage(error)}`
  }
}

/** Present, inside the folder and small enough. */
export async function requireWedgeFile(dir: string, part: string, name: string): Promise<string> {
  const shown = join(part, name)
  if (!isPlainName(name)) throw new WedgeFileError(`${shown} is not the name of a file in ${part || 'the folder'}`)
  const path = await realpathInside(dir, join(part, name))
  if (!path) throw new WedgeFileError(`${shown} ${await describeMissingFile(join(dir, part, name))}`)
  const found = await statOrNull(path)
  if (!found?.isFile()) throw new WedgeFileError(`${shown} is not a file`)
  if (found.size > MAX_LOADED_FILE_BYTES)
    throw new WedgeFileError(`${shown} has more than ${MAX_LOADED_FILE_BYTES} bytes`)
  return path
}

async function loadWedgeBytes(dir: string, part: string, name: string): Promise<Buffer> {
  const path = await requireWedgeFile(dir, part, name)
  try {
    return await readFile(path)
  } catch (error) {
    if (isOutOfFileHandles(error)) throw error
    throw new WedgeFileError(`${join(part, name)} cannot be read: ${errorCode(error)}`)
  }
}

const isPlainName = (name: string) => name !== '' && !name.startsWith('.') && !/[/\\\0]/.test(name)

async function describeMissingFile(path: string): Promise<string> {
  return (await lstat(path).catch(() => null)) ? 'is a link that leads out of the folder, or to nothing' : 'is missing'
}

async function hasManifest(folder: string): Promise<boolean> {
  return (await lstat(join(folder, 'wedge.json')).catch(() => null)) !== null
}

async function fingerprintFile(dir: string, file: string): Promise<string> {
  const found = await stat(join(dir, file), { bigint: true }).catch(() => null)
  return found ? `${file} ${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}` : `${file} -`
}

async function listNames(folder: string): Promise<string[] | null> {
  try {
    return (await readdir(folder)).filter((name) => !name.startsWith('.')).sort()
  } catch (error) {
    if (isOutOfFileHandles(error)) throw error
    return null
  }
}

async function statOrNull(path: string) {
  return stat(path).catch(() => null)
}

/** The process has run out of files: this says nothing about the wedge. */
const isOutOfFileHandles = (error: unknown) => ['EMFILE', 'ENFILE'].includes(errorCode(error))
const errorCode = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error))
