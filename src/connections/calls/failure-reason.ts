import { truncateText } from '../../platform/contract/truncate-value.ts'
import type { SecretMask } from '../../identity/vault/mask-secrets.ts'
import { findErrorWords } from './error-words.ts'
import type { UpstreamResponse } from './executor.ts'

const MAX_CHARACTERS = 500

/** Why the other side refused, on one line: its own words if it says any. Null for a success. */
export function describeUpstreamFailure(response: UpstreamResponse, mask: SecretMask): string | null {
  const { ok, status, error, body } = response
  if (ok) return null
  const bare = `upstream answered ${status}`
  const words = error === null || error === bare ? findErrorWords(body) : ''
  const isGood = error === null && status < 300
  if (words !== '') return toReasonLine(mask, `${isGood ? 'upstream answered with an error' : bare}: ${words}`)
  return toReasonLine(mask, isGood ? `${bare}, which is not a success here` : (error ?? bare))
}

/** Masked before it is cut, because half of a secret would not be found. */
export const toReasonLine = (mask: SecretMask, text: string): string =>
  truncateText(
    mask
      .text(text)
      .replaceAll(/[\s\p{C}]+/gu, ' ')
      .trim(),
    MAX_CHARACTERS,
  )
