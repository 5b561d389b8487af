import { hash } from 'node:crypto'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'

export const MAX_HASHED_FILES = 1_000
export const MAX_HASHED_BYTES = 32 * 1024 * 1024

/** Whether a folder with this name and these entries is left out. */
type SkipRule = (name: string, entries: string[]) => boolean

/** Packages of Node, which a lock file names. */
export const isNodePackages: SkipRule = (name) => name === 'node_modules'

/** Installed packages of Node and Python, whatever the name of their folder, and what programs write beside their source. */
export const isNotOwnSource: SkipRule = (name, entries) =>
  ['node_modules', '__pycache__', '.git'].includes(name) || entries.includes('pyvenv.cfg')

/** Changes with the files of a folder, but not with those that are left out. Null: too many or too large files. */
export async function digestFolder(folder: string, isSkipped: SkipRule): Promise<string | null> {
  const files = await listOwnFiles(folder, isSkipped)
  if (files === null) return null
  const parts: [string, string][] = []
  let bytes = 0
  for (const { path, isLink } of files) {
    bytes += (await lstat(path)).size
    if (bytes > MAX_HASHED_BYTES) return null
    const content = isLink ? Buffer.from(await readlink(path)) : await readFile(path)
    parts.push([relative(folder, path), hash('sha256', content)])
  }
  return hash('sha256', JSON.stringify(parts))
}

/** Files and links below the folder, without those that are left out; null if there are too many. */
export async function listOwnFiles(
  folder: string,
  isSkipped: SkipRule,
): Promise<{ path: string; isLink: boolean }[] | null> {
  const files: { path: string; isLink: boolean }[] = []
  const folders = [folder]
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    const entries = await readdir(next, { withFileTypes: true })
    const names = entries.map(({ name }) => name)
    if (next !== folder && isSkipped(basename(next), names)) continue
    for (const entry of entries) {
      const path = join(next, entry.name)
      if (entry.isDirectory()) folders.push(path)
      if (entry.isFile() || entry.isSymbolicLink()) files.push({ path, isLink: entry.isSymbolicLink() })
    }
    if (files.length > MAX_HASHED_FILES) return null
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}
