import type { JsonObject } from '../../../platform/base/json.ts'
import { findHeaders, type MailHeaders } from './mail-headers.ts'

/** What the receiving mail server found out about the sender. `none`: it did not say. */
export interface MailVerdict {
  spf: VerdictResult
  dkim: VerdictResult
  dmarc: VerdictResult
  /** The server whose word it is. */
  by: string
}

/** From the best to the worst. */
const RESULTS = ['pass', 'none', 'neutral', 'temperror', 'permerror', 'softfail', 'fail'] as const
type VerdictResult = (typeof RESULTS)[number]

/**
 * Reads the Authentication-Results (RFC 8601) of one server, which may write several: one for each check. The sender can write
 * such a header too, so a check that failed in one of them has failed.
 */
export function readAuthenticationResults(headers: MailHeaders, server: string): MailVerdict | null {
  const copies = headers.flatMap(({ name, value }) => {
    if (name !== 'authentication-results') return []
    const [authority = '', ...parts] = splitResults(withoutComments(value))
    const isOwn = authority.trim().split(/\s/, 1)[0]?.toLowerCase() === server.toLowerCase()
    return isOwn ? [readResults(parts)] : []
  })
  if (copies.length === 0) return null
  const resultOf = (method: keyof Results) => worstResult(copies.flatMap((copy) => copy[method]))
  return { spf: resultOf('spf'), dkim: resultOf('dkim'), dmarc: resultOf('dmarc'), by: server }
}

/** What Postmark adds to a mail that it received: Received-SPF and the tests of SpamAssassin. */
export function readPostmarkVerdict(headers: MailHeaders): MailVerdict {
  const dkim = worstResult(findHeaders(headers, 'x-spam-tests').map(readSpamTests))
  return { spf: readCopies(headers, 'received-spf'), dkim, dmarc: 'none', by: 'postmark' }
}

const readSpamTests = (tests: string): VerdictResult =>
  /\bDKIM_VALID\b/.test(tests) ? 'pass' : /\bDKIM_INVALID\b/.test(tests) ? 'fail' : 'none'

/** What Mailgun adds to a mail that it received. */
export function readMailgunVerdict(headers: MailHeaders): MailVerdict {
  const dkim = readCopies(headers, 'x-mailgun-dkim-check-result')
  return { spf: readCopies(headers, 'x-mailgun-spf'), dkim, dmarc: 'none', by: 'mailgun' }
}

/**
 * Whether the address in From is probably forged. DMARC decides if the server says it. Otherwise one passed check is enough,
 * because a mail that was forwarded often fails the other one.
 */
export function isFailedVerdict({ spf, dkim, dmarc }: MailVerdict): boolean {
  if (dmarc === 'pass' || dmarc === 'fail') return dmarc === 'fail'
  return spf !== 'pass' && dkim !== 'pass' && [spf, dkim].some((result) => result === 'fail' || result === 'softfail')
}

export const toVerdictJson = ({ spf, dkim, dmarc, by }: MailVerdict): JsonObject => ({ spf, dkim, dmarc, by })

const readCopies = (headers: MailHeaders, name: string): VerdictResult =>
  worstResult(findHeaders(headers, name).map(toResult))

/** Of a repeated result, one may be part of a text of the sender, so a pass counts only if all of them pass. */
const worstResult = (results: readonly VerdictResult[]): VerdictResult =>
  RESULTS.findLast((result) => results.includes(result)) ?? 'none'

type Results = Record<'spf' | 'dkim' | 'dmarc', VerdictResult[]>

/** The results of one header. One valid signature is enough, so a pass outweighs the other results of DKIM. */
function readResults(parts: readonly string[]): Results {
  const found = parts.flatMap((part) => {
    const [, method, result = ''] = /^\s*([a-z]+)(?:\/\d+)?\s*=\s*([a-z]+)/i.exec(part) ?? []
    return method ? [{ method: method.toLowerCase(), result: toResult(result) }] : []
  })
  const resultsOf = (name: string) => found.filter(({ method }) => method === name).map(({ result }) => result)
  const dkim = resultsOf('dkim')
  return { spf: resultsOf('spf'), dkim: dkim.includes('pass') ? ['pass'] : dkim, dmarc: resultsOf('dmarc') }
}

function toResult(text: string): VerdictResult {
  const word = /^\s*([a-z]+)/i.exec(text)?.[1]?.toLowerCase()
  return RESULTS.find((result) => result === word) ?? 'none'
}

/**
 * The sender chooses the address in `smtp.mailfrom`, which may contain a `;` that its server does not quote. There a `;`
 * ends the address only before a space. Elsewhere it always ends a result: some servers write `;dmarc=pass`.
 */
const splitResults = (value: string): string[] =>
  value.replaceAll(/\bsmtp\.(?:mailfrom|helo)\s*=\s*\S*/gi, (address) => (address.endsWith(';') ? ';' : '')).split(';')

/** Comments in brackets and quoted strings may contain anything, also a `;`. */
function withoutComments(value: string): string {
  let depth = 0
  let isQuoted = false
  let isEscaped = false
  let kept = ''
  for (const character of value) {
    if (isEscaped) isEscaped = false
    else if (character === '\\') isEscaped = true
    else if (depth === 0 && character === '"') isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (character === '(') depth += 1
    else if (character === ')') depth = Math.max(0, depth - 1)
    else if (depth === 0) kept += character
  }
  return kept
}
