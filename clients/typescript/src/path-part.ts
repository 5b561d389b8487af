/** A value as one part of a path. Some values would lead to another path, and are refused. */
export function encodePathPart(name: string, value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  if (text === '' || text === '.' || text === '..') {
    throw new TypeError(`parameter '${name}' must be a text that is not empty, '.' or '..'`)
  }
  return encodeURIComponent(text)
}
