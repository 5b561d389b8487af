import type { JsonObject } from '../../base/json.ts'
import { findSingleHeader, type MailHeaders } from './mail-headers.ts'

/** What the receiving mail server found out about the sender. `none`: it did not say. */
export interface MailVerdict {
  spf: VerdictResult
  dkim: VerdictResult
  dmarc: VerdictResult
  /** The server whose word it is. */
  by: string
}

const RESULTS = ['pass', 'fail', 'softfail', 'neutral', 'temperror', 'permerror', 'none'] as const
type VerdictResult = (typeof RESULTS)[number]

/**
 * Reads the Authentication-Results (RFC 8601) of one server. The sender can write such a header too, so only the first one
 * that has the name of the own server counts: a server puts its header on top and removes foreign ones with its name.
 */
export function readAuthenticationResults(headers: MailHeaders, server: string): MailVerdict | null {
  for (const { name, value } of headers) {
    if (name !== 'authentication-results') continue
    const [authority = '', ...parts] = splitResults(withoutComments(value))
    if (authority.trim().split(/\s/, 1)[0]?.toLowerCase() !== server.toLowerCase()) continue
    return { ...combineResults(parts), by: server }
  }
  return null
}

/** What Postmark adds to a mail that it received: Received-SPF and the tests of SpamAssassin. */
export function readPostmarkVerdict(headers: MailHeaders): MailVerdict {
  const tests = findSingleHeader(headers, 'x-spam-tests') ?? ''
  const dkim = /\bDKIM_VALID\b/.test(tests) ? 'pass' : /\bDKIM_INVALID\b/.test(tests) ? 'fail' : 'none'
  return { spf: readSpf(headers, 'received-spf'), dkim, dmarc: 'none', by: 'postmark' }
}

/** What Mailgun adds to a mail that it received. */
export function readMailgunVerdict(headers: MailHeaders): MailVerdict {
  const dkim = findSingleHeader(headers, 'x-mailgun-dkim-check-result')
  return { spf: readSpf(headers, 'x-mailgun-spf'), dkim: toResult(dkim), dmarc: 'none', by: 'mailgun' }
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

const readSpf = (headers: MailHeaders, name: string): VerdictResult => toResult(findSingleHeader(headers, name))

/**
 * One valid signature is enough, so a pass outweighs the other results of DKIM. SPF and DMARC have one result: a second one is
 * part of a text of the sender, so a pass does not count beside it.
 */
function combineResults(parts: readonly string[]): Omit<MailVerdict, 'by'> {
  const found = parts.flatMap((part) => {
    const [, method, result] = /^\s*([a-z]+)(?:\/\d+)?\s*=\s*([a-z]+)/i.exec(part) ?? []
    return method ? [{ method: method.toLowerCase(), result: toResult(result ?? null) }] : []
  })
  const resultOf = (method: string) => {
    const results = found.filter((one) => one.method === method).map(({ result }) => result)
    if (method === 'dkim') return results.find((result) => result === 'pass') ?? results[0] ?? 'none'
    return results.find((result) => result !== 'pass') ?? results[0] ?? 'none'
  }
  return { spf: resultOf('spf'), dkim: resultOf('dkim'), dmarc: resultOf('dmarc') }
}

function toResult(text: string | null): VerdictResult {
  const word = /^\s*([a-z]+)/i.exec(text ?? '')?.[1]?.toLowerCase()
  return RESULTS.find((result) => result === word) ?? 'none'
}

/**
 * The sender chooses the address in `smtp.mailfrom`, which may contain a `;` that its server does not quote. There a `;`
 * ends the address only before a space. Elsewhere it always ends a result: some servers write `;dmarc=pass`.
 */
function splitResults(value: string): string[] {
  const parts: string[] = []
  for (const part of value.split(';')) {
    const before = parts.at(-1) ?? ''
    const isAddress = /\bsmtp\.(?:mailfrom|helo)\s*=\s*\S*$/i.test(before) && /^\S/.test(part)
    if (isAddress) parts[parts.length - 1] = `${before};${part}`
    else parts.push(part)
  }
  return parts
}

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
