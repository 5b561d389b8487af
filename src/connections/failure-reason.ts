import { truncateText } from '../contract/truncate-value.ts'
import type { SecretMask } from '../vault/mask-secrets.ts'
import { findErrorWords } from './error-words.ts'
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
  const words = error === null || error === bare ? findErrorWords(body) : ''
  const isGood = error === null && status < 300
  if (words !== '') return toLine(mask.text(`${isGood ? 'upstream answered with an error' : bare}: ${words}`))
  return toLine(mask.text(isGood ? `${bare}, which is not a success here` : (error ?? bare)))
}

const toLine = (text: string): string => truncateText(text.replaceAll(/[\s\p{C}]+/gu, ' ').trim(), MAX_CHARACTERS)
