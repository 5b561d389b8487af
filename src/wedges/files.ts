import { lstat, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Json } from '../base/json.ts'
import { messageOf } from '../base/message-of.ts'
import { insideRoot } from '../base/names.ts'
import { parseStrictJson } from '../base/strict-json.ts'

export const FILE_MOST = 1024 * 1024
const PARTS = ['skills', 'knowledge', 'rehearsals', 'workflows'] as const
const CODE_LEVELS_MOST = 8
/** Files with other names, such as hidden ones, are nobody's workflow and are not taken along. */
const CODE_FILE = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\.mjs$/
const CODE_FOLDER = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/

/** Why a file of a wedge cannot be used: names the file, so its author knows where to look. */
export class Unreadable extends Error {}

/** The folders that hold a `wedge.json`, whatever they are called; null when there is no such directory at all. */
export async function wedgeFolders(root: string): Promise<string[] | null> {
  const names = await namesIn(root)
  if (!names) return null
  const found = await Promise.all(names.map((name) => hasManifest(join(root, name))))
  return names.filter((_, at) => found[at])
}

/** The names of the files in a part of the wedge; hidden files and folders are nobody's skill. */
export async function filesIn(dir: string, part: (typeof PARTS)[number]): Promise<string[]> {
  const names = (await namesIn(join(dir, part))) ?? []
  const marks = await Promise.all(names.map((name) => statIfAny(join(dir, part, name))))
  return names.filter((_, at) => !marks[at]?.isDirectory())
}

/** The files below `workflows/`, by their path there. */
export const codeFiles = (dir: string): Promise<string[]> => codeBelow(join(dir, 'workflows'), '', CODE_LEVELS_MOST)

/** Links to folders are not followed: they may lead back, or out. */
async function codeBelow(folder: string, prefix: string, levels: number): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isOurs(error)) throw error
    return []
  })
  const found = entries.map(async (entry): Promise<string[]> => {
    if (!entry.isDirectory()) return CODE_FILE.test(entry.name) ? [prefix + entry.name] : []
    if (levels === 1 || !CODE_FOLDER.test(entry.name)) return []
    return codeBelow(join(folder, entry.name), `${prefix}${entry.name}/`, levels - 1)
  })
  return (await Promise.all(found)).flat()
}

/** Changes when any file of the wedge does, and costs no reading. */
export async function fingerprint(dir: string): Promise<{ mark: string; folders: string[] }> {
  const parts = await Promise.all(PARTS.map(async (part) => ({ part, names: await namesIn(join(dir, part)) })))
  const below = (await codeFiles(dir)).filter((name) => name.includes('/')).map((name) => `workflows/${name}`)
  const inParts = parts.flatMap(({ part, names }) => (names ?? []).map((name) => `${part}/${name}`))
  const files = ['wedge.json', ...inParts, ...below.sort()]
  const marks = await Promise.all(files.map((file) => markOf(dir, file)))
  const folders = parts.filter(({ names }) => names !== null).map(({ part }) => join(dir, part))
  return { mark: marks.join('\n'), folders: [dir, ...folders] }
}

/** A file of the wedge as text. Names come from the manifest, so they must not lead out of the folder. */
export async function readText(dir: string, part: string, name: string): Promise<string> {
  const bytes = await readBytes(dir, part, name)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Unreadable(`${join(part, name)} is not text in utf-8`)
  }
}

export async function readJson(dir: string, part: string, name: string): Promise<Json> {
  const text = await readText(dir, part, name)
  try {
    return parseStrictJson(Buffer.from(text))
  } catch (error) {
    throw new Unreadable(`${join(part, name)}: ${syntaxFault(text) ?? messageOf(error)}`)
  }
}

/** Where the text stops being JSON: more than a stranger is told, for the author to find the place. */
function syntaxFault(text: string): string | null {
  try {
    JSON.parse(text)
    return null
  } catch (error) {
    return `malformed json: ${messageOf(error)}`
  }
}

/** Present, inside the folder and small enough. */
export async function checkFile(dir: string, part: string, name: string): Promise<string> {
  const shown = join(part, name)
  if (!isPlainName(name)) throw new Unreadable(`${shown} is not the name of a file in ${part || 'the folder'}`)
  const path = await insideRoot(dir, join(part, name))
  if (!path) throw new Unreadable(`${shown} ${await reason(join(dir, part, name))}`)
  const found = await statIfAny(path)
  if (!found?.isFile()) throw new Unreadable(`${shown} is not a file`)
  if (found.size > FILE_MOST) throw new Unreadable(`${shown} has more than ${FILE_MOST} bytes`)
  return path
}

async function readBytes(dir: string, part: string, name: string): Promise<Buffer> {
  const path = await checkFile(dir, part, name)
  try {
    return await readFile(path)
  } catch (error) {
    if (isOurs(error)) throw error
    throw new Unreadable(`${join(part, name)} cannot be read: ${codeOf(error)}`)
  }
}

const isPlainName = (name: string) => name !== '' && !name.startsWith('.') && !/[/\\\0]/.test(name)

async function reason(path: string): Promise<string> {
  return (await lstat(path).catch(() => null)) ? 'is a link that leads out of the folder, or to nothing' : 'is missing'
}

async function hasManifest(folder: string): Promise<boolean> {
  return (await lstat(join(folder, 'wedge.json')).catch(() => null)) !== null
}

async function markOf(dir: string, file: string): Promise<string> {
  const found = await stat(join(dir, file), { bigint: true }).catch(() => null)
  return found ? `${file} ${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}` : `${file} -`
}

async function namesIn(folder: string): Promise<string[] | null> {
  try {
    return (await readdir(folder)).filter((name) => !name.startsWith('.')).sort()
  } catch (error) {
    if (isOurs(error)) throw error
    return null
  }
}

async function statIfAny(path: string) {
  return stat(path).catch(() => null)
}

/** The process has run out of files: this says nothing about the wedge. */
const isOurs = (error: unknown) => ['EMFILE', 'ENFILE'].includes(codeOf(error))
const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error))
