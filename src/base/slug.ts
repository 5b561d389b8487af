import { realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'

/** A name that may become a path, a host's label or a part of a key without being escaped. */
export const SLUG = /^[a-z0-9][a-z0-9_-]{0,63}$/

export const isSlug = (name: string): boolean => SLUG.test(name)

/** The real path of what `name` means below `root`, or null when it is absent or a link leads elsewhere. */
export async function realpathInside(root: string, name: string): Promise<string | null> {
  const [home, path] = await Promise.all([realpathOrNull(root), realpathOrNull(join(root, name))])
  if (home === null || path === null) return null
  const below = home.endsWith(sep) ? home : home + sep
  return path.startsWith(below) && path.length > below.length ? path : null
}

/** All of these mean that nothing can be reached there; other errors, such as too many open files, are ours. */
const ABSENT_CODES = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'])

async function realpathOrNull(path: string): Promise<string | null> {
  try {
    return await realpath(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && ABSENT_CODES.has(String(error.code))) return null
    throw error
  }
}
