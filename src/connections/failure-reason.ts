import { isJsonObject, type Json } from '../base/json.ts'
import { errorMessageIn, listField, textField } from '../base/json-fields.ts'
import { truncateText } from '../contract/truncate-value.ts'
import type { SecretMask } from '../vault/mask-secrets.ts'
import type { UpstreamResponse } from './executors/executor.ts'

const MAX_CHARACTERS = 500

/**
 * Why the other side refused, on one line: its own words if it says any. Null for a success. It is masked before it is cut,
 * because half of a secret would not be found.
 */
export function describeUpstreamFailure(response: UpstreamResponse, mask: SecretMask): string | null {
  const { ok, status, error, body } = response
  if (ok) return null
  const bare = `upstream answered ${status}`
  const words = error === null || error === bare ? findWords(body) : ''
  return toLine(mask.text(words === '' ? (error ?? bare) : `${bare}: ${words}`))
}

/** The usual fields of an error. A page of HTML says nothing on one line. */
function findWords(body: Json): string {
  if (typeof body === 'string') return body.trimStart().startsWith('<') ? '' : body
  if (!isJsonObject(body)) return ''
  const [first = null] = listField(body, 'errors')
  const named = ['error_description', 'detail', 'title'].map((field) => textField(body, field))
  const texts = [errorMessageIn(body), ...named, typeof first === 'string' ? first : errorMessageIn(first)]
  return texts.find((text) => text !== '') ?? ''
}

const toLine = (text: string): string => truncateText(text.replaceAll(/[\s\p{C}]+/gu, ' ').trim(), MAX_CHARACTERS)
