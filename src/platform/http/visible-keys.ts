import { z } from 'zod'
import type { Json } from '../base/json.ts'
import { jsonObject, jsonValue } from './validate.ts'

/**
 * For values that a person or a rule must judge: a name with an invisible character looks like another name, and some
 * receivers read it as the other name.
 */
export const visibleJsonValue = jsonValue.superRefine(refuseInvisibleKeys).meta(jsonValue.meta() ?? {})
export const visibleJsonObject = jsonObject.superRefine(refuseInvisibleKeys).meta(jsonObject.meta() ?? {})

/** Control and format characters, line separators, and letters and signs without a shape, such as U+3164 and U+2800. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u

function refuseInvisibleKeys(value: Json, context: z.core.$RefinementCtx): void {
  const path = findInvisibleKey(value)
  if (path === null) return
  const shown = path.join('.').replaceAll(EACH_INVISIBLE, codeOf)
  context.addIssue({ code: 'custom', message: `must not have an invisible character in a name: '${shown}'` })
}

const EACH_INVISIBLE = new RegExp(INVISIBLE, 'gu')

const codeOf = (character: string): string =>
  `<U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}>`

function findInvisibleKey(value: Json): string[] | null {
  if (typeof value !== 'object' || value === null) return null
  if (Array.isArray(value)) return findInList(value)
  for (const key of Object.keys(value)) {
    // The first check is cheap, and almost every name passes it.
    if (NOT_ASCII_TEXT.test(key) && INVISIBLE.test(key)) return [key]
    const path = findInvisibleKey(value[key] ?? null)
    if (path) return [key, ...path]
  }
  return null
}

const NOT_ASCII_TEXT = /[^ -~]/

/** Not by `Object.entries`, which makes a text of each of the 500,000 positions that 1 MB can have. */
function findInList(list: Json[]): string[] | null {
  for (const [at, item] of list.entries()) {
    const path = findInvisibleKey(item)
    if (path) return [String(at), ...path]
  }
  return null
}
