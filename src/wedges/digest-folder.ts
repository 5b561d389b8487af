import { hash } from 'node:crypto'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join, relative } from 'node:path'

export const MAX_HASHED_FILES = 1_000
export const MAX_HASHED_BYTES = 32 * 1024 * 1024

/** Installed packages, which a lock file names, and what programs write beside their source. */
const SKIPPED_FOLDERS = ['node_modules', '__pycache__', '.git']
/** Marks the folder of a virtual environment of Python, whatever its name. */
const VIRTUAL_ENVIRONMENT_MARK = 'pyvenv.cfg'

/** Changes with the files of a folder, but not with installed packages. Null: too many or too large files. */
export async function digestFolder(folder: string): Promise<string | null> {
  const files = await listOwnFiles(folder)
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

/** Files and links below the folder, without installed packages; null if there are too many. */
export async function listOwnFiles(folder: string): Promise<{ path: string; isLink: boolean }[] | null> {
  const files: { path: string; isLink: boolean }[] = []
  const folders = [folder]
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    const entries = await readdir(next, { withFileTypes: true })
    if (next !== folder && entries.some(({ name }) => name === VIRTUAL_ENVIRONMENT_MARK)) continue
    for (const entry of entries) {
      const path = join(next, entry.name)
      if (entry.isDirectory() && !SKIPPED_FOLDERS.includes(entry.name)) folders.push(path)
      if (entry.isFile() || entry.isSymbolicLink()) files.push({ path, isLink: entry.isSymbolicLink() })
    }
    if (files.length > MAX_HASHED_FILES) return null
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}
