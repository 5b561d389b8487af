const PLACEHOLDER = /\{([A-Za-z0-9_-]{1,64})\}/g
const ONLY_PLACEHOLDER = /^\{([A-Za-z0-9_-]{1,64})\}$/

/** Characters that need no escaping in a path. */
const PATH_TEXT = /^[A-Za-z0-9._~!$&'()*+,;=:@/-]*$/

/** The field of a value that is only a placeholder, such as `{limit}`; null for a constant. */
export const fieldOf = (value: string | number | boolean): string | null =>
  (typeof value === 'string' && ONLY_PLACEHOLDER.exec(value)?.[1]) || null

export const isPlaceholder = (value: string | number | boolean): boolean => fieldOf(value) !== null

/** The fields of a path template, in order. */
export const fieldsOfPath = (path: string): string[] => [...path.matchAll(PLACEHOLDER)].map(([, field = '']) => field)

/** The path with every placeholder replaced. */
export const fillPath = (path: string, partOf: (field: string) => string): string =>
  path.replace(PLACEHOLDER, (_, field: string) => partOf(field))

/** What is wrong with a path template, as a text that follows the name of the field; null if it is valid. */
export function findPathProblem(path: string): string | null {
  if (!path.startsWith('/')) return 'must begin with /'
  const text = path.replaceAll(PLACEHOLDER, 'x')
  if (/[{}]/.test(text)) return 'has a placeholder that is not {field}: letters, digits, _ and -'
  if (/[?#]/.test(text)) return "must not contain '?' or '#': use query"
  if (!PATH_TEXT.test(text)) return 'contains characters that are not allowed in a path'
  const segments = text.slice(1).split('/')
  if (segments.some((segment, index) => segment === '' && index < segments.length - 1)) return "must not contain '//'"
  return segments.some((segment) => /^\.{1,2}(;|$)/.test(segment)) ? "must not contain '.' or '..' segments" : null
}

/** What is wrong with a value of `query` or `headers`; null if it is a constant or a placeholder. */
export function findValueProblem(value: string): string | null {
  if (isPlaceholder(value) || !/[{}]/.test(value)) return null
  return 'must be a constant or {field}: braces inside a text are not supported'
}
