import { lstat, readdir, readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Json } from '../../platform/base/json.ts'
import { errorCode, errorMessage, isOutOfFileHandles } from '../../platform/base/error-message.ts'
import { JsonSyntaxError, parseJsonWithLines } from '../../platform/base/json-with-lines.ts'
import { realpathInside } from '../../platform/base/real-path.ts'
import { parseStrictJson } from '../../platform/base/strict-json.ts'
import { listSkillFolders } from '../../platform/contract/wedge/skill-folder.ts'
import type { FileProblem } from '../../platform/contract/wedge/wedge-manifest.ts'
import { isNotOwnSource, listOwnFiles } from './digest-folder.ts'

export const MAX_LOADED_FILE_BYTES = 1024 * 1024
const WEDGE_PARTS = ['skills', 'knowledge', 'rehearsals', 'workflows'] as const
const MAX_CODE_DEPTH = 8
/** Other files, such as hidden ones, are ignored. */
const CODE_FILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\.mjs$/
const CODE_FOLDER_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/

/** Files of a wedge cannot be used. */
export class WedgeFileError extends Error {
  readonly problems: FileProblem[]

  constructor(message: string, problems: FileProblem[] = [{ file: 'wedge.json', line: 1, message }]) {
    super(message)
    this.problems = problems
  }
}

/** An error about a whole file, whose name begins the message. */
export function wedgeFileError(file: string, what: string): WedgeFileError {
  const message = `${file} ${what}`
  return new WedgeFileError(message, [{ file, line: 1, message }])
}

/** The folders that contain a `wedge.json`, including folders with an invalid name; null if `root` does not exist. */
export async function scanWedgeFolders(root: string): Promise<string[] | null> {
  const names = await listNames(root)
  if (!names) return null
  const found = await Promise.all(names.map((name) => hasManifest(join(root, name))))
  return names.filter((_, at) => found[at])
}

/** The file names in a part of the wedge, without hidden files and folders. */
export async function listPartFiles(dir: string, part: (typeof WEDGE_PARTS)[number]): Promise<string[]> {
  const names = (await listNames(join(dir, part))) ?? []
  const stats = await Promise.all(names.map((name) => statOrNull(join(dir, part, name))))
  return names.filter((_, at) => !stats[at]?.isDirectory())
}

/** The paths of the code files below `workflows/`. */
export const listCodeFiles = (dir: string): Promise<string[]> =>
  listCodeFilesBelow(join(dir, 'workflows'), '', MAX_CODE_DEPTH)

/** Does not follow links to folders, because they may form a cycle or leave the wedge. */
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

/**
 * Changes when any file of the wedge changes. Uses file metadata only and reads no file. `agentDirs` are the folders of the
 * agents in the wedge.
 */
export async function fingerprintWedge(
  dir: string,
  agentDirs: string[] = [],
): Promise<{ fingerprint: string; folders: string[] }> {
  const parts = await Promise.all(WEDGE_PARTS.map(async (part) => ({ part, names: await listNames(join(dir, part)) })))
  const below = (await listCodeFiles(dir)).filter((name) => name.includes('/')).map((name) => `workflows/${name}`)
  const inParts = parts.flatMap(({ part, names }) => (names ?? []).map((name) => `${part}/${name}`))
  const ownDirs = [...agentDirs, ...(await listSkillFolders(dir)).map(({ name }) => join(dir, 'skills', name))]
  const inOwnDirs = await Promise.all(ownDirs.map((folder) => listOwnFiles(folder, isNotOwnSource).catch(() => null)))
  const ownFiles = inOwnDirs.flatMap((files) => (files ?? []).map(({ path }) => relative(dir, path)))
  const files = ['wedge.json', ...inParts, ...below.sort(), ...ownFiles]
  const fingerprints = await Promise.all(files.map((file) => fingerprintFile(dir, file)))
  const folders = parts.filter(({ names }) => names !== null).map(({ part }) => join(dir, part))
  return { fingerprint: fingerprints.join('\n'), folders: [dir, ...folders, ...ownDirs] }
}

/** Reads a file as text. The name comes from the manifest, so it is checked to stay inside the folder. */
export async function loadWedgeText(dir: string, part: string, name: string): Promise<string> {
  const bytes = await loadWedgeBytes(dir, part, name)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw wedgeFileError(join(part, name), 'is not utf-8 text')
  }
}

export async function loadWedgeJson(dir: string, part: string, name: string): Promise<Json> {
  return parseWedgeJson(join(part, name), await loadWedgeText(dir, part, name))
}

export function parseWedgeJson(file: string, text: string): Json {
  try {
    return parseStrictJson(Buffer.from(text))
  } catch (error) {
    const { line, message } = findSyntaxError(text) ?? { line: 1, message: errorMessage(error) }
    throw new WedgeFileError(`${file}: ${message}`, [{ file, line, message }])
  }
}

/** The strict parser does not tell the line. */
function findSyntaxError(text: string): JsonSyntaxError | null {
  try {
    parseJsonWithLines(text)
    return null
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error
    throw error
  }
}

/** The path of a file that exists, is inside the folder and is small enough. */
export async function requireWedgeFile(dir: string, part: string, name: string): Promise<string> {
  const shownPath = join(part, name)
  if (!isPlainName(name)) throw wedgeFileError(shownPath, `is not the name of a file in ${part || 'the folder'}`)
  const path = await realpathInside(dir, join(part, name))
  if (!path) throw wedgeFileError(shownPath, await describeMissingFile(join(dir, part, name)))
  const found = await statOrNull(path)
  if (!found?.isFile()) throw wedgeFileError(shownPath, 'is not a file')
  if (found.size > MAX_LOADED_FILE_BYTES)
    throw wedgeFileError(shownPath, `has more than ${MAX_LOADED_FILE_BYTES} bytes`)
  return path
}

async function loadWedgeBytes(dir: string, part: string, name: string): Promise<Buffer> {
  const path = await requireWedgeFile(dir, part, name)
  try {
    return await readFile(path)
  } catch (error) {
    if (isOutOfFileHandles(error)) throw error
    throw wedgeFileError(join(part, name), `cannot be read: ${errorCode(error) || String(error)}`)
  }
}

const isPlainName = (name: string) => name !== '' && !name.startsWith('.') && !/[/\\\0]/.test(name)

async function describeMissingFile(path: string): Promise<string> {
  return (await lstat(path).catch(() => null)) ? 'is a link to a target outside the folder or to no file' : 'is missing'
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
