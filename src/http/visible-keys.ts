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
  for (const [key, inner] of Object.entries(value)) {
    if (INVISIBLE.test(key)) return [key]
    const path = findInvisibleKey(inner)
    if (path) return [key, ...path]
  }
  return null
}
