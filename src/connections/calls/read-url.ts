import { badRequest } from '../../platform/base/problem.ts'
import { removeTrailingSlashes } from '../../platform/base/text.ts'

/** The URL of a read; a path that is not below the connection's base URL is a 400. */
export function resolveReadUrl(base: string, path: string): URL {
  const root = new URL(base)
  root.search = ''
  root.hash = ''
  const folder = removeTrailingSlashes(root.pathname)
  refuseAbsolutePath(path)
  const url = new URL(`${root.origin}${folder}/${path.replace(/^\//, '')}`)
  const inside = url.pathname === folder || url.pathname.startsWith(`${folder}/`)
  if (url.origin !== root.origin || !inside || leavesBasePath(path)) {
    throw badRequest("field 'path' must not leave the base path of the connection")
  }
  return url
}

/** Refuses everything that a URL parser could take for a scheme, a host or another request line. */
function refuseAbsolutePath(path: string): void {
  if (/^\s*[a-z][a-z0-9+.-]*:/i.test(path) || /^\s*[/\\]{2}/.test(path)) {
    throw badRequest("field 'path' must be relative: the connection names the host")
  }
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u0020\u007f\\#]/.test(path)) {
    throw badRequest("field 'path' must not contain blanks, control characters, backslashes or '#'")
  }
}

/**
 * The server may decode the path more than once and may drop path parameters before it resolves segments. So every
 * encoding of `..` counts as `..`, and `..;x` does too.
 */
function leavesBasePath(path: string): boolean {
  let text = path.split('?')[0] ?? ''
  for (let round = 0; round < 4; round++) {
    let depth = 0
    for (const segment of text.split(/[/\\]/)) {
      const [part] = segment.split(';')
      if (part === '..') depth--
      else if (part !== '' && part !== '.') depth++
      if (depth < 0) return true
    }
    const decoded = decodeOnce(text)
    if (decoded === null) return true
    if (decoded === text) return false
    text = decoded
  }
  return true
}

function decodeOnce(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
