import type { z } from 'zod'
import { isPlaceholder } from './placeholders.ts'

/** A token of RFC 9110. */
export const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/

/** Credentials come from the vault, and the HTTP client sets the others; a second value would confuse the server. */
const RESERVED_HEADERS = new Set([
  'accept-encoding',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
])

export const isReservedHeader = (name: string): boolean => RESERVED_HEADERS.has(name.toLowerCase())

/** Printable ASCII without leading or trailing spaces: no line break, which would begin another header. */
export const isHeaderText = (text: string): boolean => /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text)

/** Reports the first header that an operation must not set. */
export function checkHeaderMap(headers: Record<string, string | number | boolean>, issues: z.RefinementCtx): void {
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  for (const [name, value] of Object.entries(headers)) {
    const message = findHeaderProblem(name, value, names)
    if (message) return issues.addIssue({ code: 'custom', path: [name], message })
  }
}

function findHeaderProblem(name: string, value: string | number | boolean, names: string[]): string | null {
  if (!HEADER_NAME.test(name)) return 'is not the name of a header'
  if (isReservedHeader(name)) return 'must not be set by an operation'
  if (names.filter((other) => other === name.toLowerCase()).length > 1) return 'must not be set twice'
  if (isPlaceholder(value)) return name.toLowerCase() === 'content-type' ? 'must be a constant' : null
  return isHeaderText(String(value)) ? null : 'must be printable ASCII'
}
