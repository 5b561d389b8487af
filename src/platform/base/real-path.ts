import { realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'

/** The real path of `name` below `root`; null when it does not exist or a link leads out of `root`. */
export async function realpathInside(root: string, name: string): Promise<string | null> {
  const [realRoot, path] = await Promise.all([realpathOrNull(root), realpathOrNull(join(root, name))])
  if (realRoot === null || path === null) return null
  const prefix = realRoot.endsWith(sep) ? realRoot : realRoot + sep
  return path.startsWith(prefix) && path.length > prefix.length ? path : null
}

/** Errors that mean there is nothing at a path; others, such as too many open files, are thrown. */
const ABSENT_CODES = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'])

async function realpathOrNull(path: string): Promise<string | null> {
  try {
    return await realpath(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && ABSENT_CODES.has(String(error.code))) return null
    throw error
  }
}
