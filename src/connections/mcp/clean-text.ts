import { isJsonObject, type Json } from '../../platform/base/json.ts'

/**
 * Characters that a person does not see, or that change the order in which text is shown: format and control characters,
 * private use, lone surrogates and everything that fonts ignore. Line breaks and tabs stay.
 */
const HIDDEN = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Co}\p{Cs}\u2800]|(?![\n\t])\p{Cc}/gu

/** Text of an MCP server as people and models may see it: nothing in it is hidden from the one and shown to the other. */
export const cleanText = (text: string): string =>
  text.replaceAll(/\r\n?|[\p{Zl}\p{Zp}]/gu, '\n').replaceAll(HIDDEN, '')

/** The same for every string and key. The caller limits how deeply the value is nested. */
export function cleanJson(value: Json): Json {
  if (typeof value === 'string') return cleanText(value)
  if (Array.isArray(value)) return value.map(cleanJson)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [cleanText(key), cleanJson(item)]))
}
