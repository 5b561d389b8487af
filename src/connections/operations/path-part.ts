import type { Json } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'

const MAX_PART_CHARACTERS = 1000

/** The escaped value of a field as one part of a path; throws a 400 that names the field. */
export function encodePathPart(field: string, value: Json | undefined): string {
  const text = typeof value === 'number' ? String(value) : value
  const problem = findPartProblem(text)
  if (problem !== null || typeof text !== 'string') throw badRequest(`field '${field}' ${problem}`)
  return encodeURIComponent(text)
}

function findPartProblem(value: Json | undefined): string | null {
  if (value === undefined || value === null) return 'is required: it is part of the path'
  if (typeof value !== 'string') return 'must be a string or a number: it is part of the path'
  if (value.trim() === '') return 'must not be empty: it is part of the path'
  if (value.length > MAX_PART_CHARACTERS) return `must have at most ${MAX_PART_CHARACTERS} characters`
  return isUnsafePart(value) ? 'must not contain slashes, backslashes, control characters or dot segments' : null
}

/**
 * The server may decode the path more than once and may drop path parameters before it resolves segments. So every
 * encoding of a slash or of `..` counts as one, and `..;x` does too.
 */
function isUnsafePart(part: string): boolean {
  let text = part
  for (let round = 0; round < 4; round++) {
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    if (/[\u0000-\u001f\u007f/\\\ud800-\udfff]/.test(withoutPairs(text))) return true
    if (/^\s*\.{1,2}\s*(;|$)/.test(text)) return true
    const decoded = decodeBytes(text)
    if (decoded === text) return false
    text = decoded
  }
  return true
}

/** Half of a surrogate pair is not valid text; a whole pair is. */
const withoutPairs = (text: string): string => text.replaceAll(/[\ud800-\udbff][\udc00-\udfff]/g, '')

/** Decodes each escape by itself: unlike `decodeURIComponent`, it does not stop at an invalid one. */
const decodeBytes = (text: string): string =>
  text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
