/**
 * The new text of a mail: without the quoted mails below it and without the signature. A text with answers between quoted
 * lines stays whole, and a text of which nothing would be left stays too.
 */
export function cutQuotedText(text: string): string {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const unsigned = cutSignature(lines)
  // A mail program for phones writes its line above the quoted mail.
  const own = cutSignature(unsigned.slice(0, findQuoteStart(unsigned)))
  const [kept = ''] = [own, unsigned, lines].map((part) => part.join('\n').trim()).filter((part) => part !== '')
  return kept
}

/** The first line of the part that only repeats earlier mails; the number of lines if there is none. */
function findQuoteStart(lines: readonly string[]): number {
  const lastOwn = lines.findLastIndex((line) => line.trim() !== '' && !isQuoted(line))
  for (const [n, line] of lines.entries()) {
    if (SEPARATOR.test(line) || isHeaderBlock(lines, n)) return startOfSeparator(lines, n)
    const attribution = findAttributionEnd(lines, n)
    // Below an attribution everything must be quoted, otherwise the sender has answered between the lines.
    if (attribution !== null && lastOwn <= attribution) return n
  }
  const firstQuoted = lines.findIndex((line, n) => n > lastOwn && isQuoted(line))
  return firstQuoted === -1 ? lines.length : firstQuoted
}

const isQuoted = (line: string): boolean => /^\s{0,3}>/.test(line)

/** Outlook and others write such a line above the mail that they repeat. A forwarded mail is content, so it stays. */
const SEPARATOR =
  /^\s*-{2,}\s*(?:original message|ursprüngliche nachricht|original-nachricht|message d'origine|message original|mensaje original|messaggio originale)\s*-{2,}\s*$/i

const HEADER_FROM = /^\s*\*?(?:from|von|de|da|van)\s?:\*?\s+\S/i
const HEADER_DATE =
  /^\s*\*?(?:sent|date|gesendet|datum|envoyé|envoyé le|enviado|enviado el|fecha|inviato|data|verzonden)\s?:\*?\s+\S/i
const HEADER_SUBJECT = /^\s*\*?(?:subject|betreff|objet|asunto|oggetto|onderwerp)\s?:\*?(?:\s|$)/i

/** The head of a mail as Outlook repeats it: From, Sent, To and Subject in the next lines. */
function isHeaderBlock(lines: readonly string[], n: number): boolean {
  if (!HEADER_FROM.test(lines[n] ?? '')) return false
  const next = lines.slice(n + 1, n + 8)
  // The sender of a forwarded mail is what the mail is about.
  if (lines.slice(Math.max(0, n - 3), n).some((line) => FORWARDED.test(line))) return false
  return next.some((line) => HEADER_DATE.test(line)) && next.some((line) => HEADER_SUBJECT.test(line))
}

const FORWARDED =
  /^\s*-{2,}\s*(?:forwarded message|weitergeleitete nachricht|message transféré|mensaje reenviado|messaggio inoltrato)|^begin forwarded message/i

/** Includes a line of underscores or hyphens above the repeated mail. */
function startOfSeparator(lines: readonly string[], n: number): number {
  const above = lines.slice(0, n).findLastIndex((line) => line.trim() !== '')
  return above !== -1 && /^\s*(?:_{5,}|-{5,})\s*$/.test(lines[above] ?? '') ? above : n
}

const ATTRIBUTION_START = /^\s*(?:on|am|le|el|il|op|em)\s+\S/i
const ATTRIBUTION_END = /(?:wrote|schrieb.{0,300}|a écrit|escribió|ha scritto|schreef.{0,300}|escreveu)\s?:\s*$/i
const MAX_ATTRIBUTION_LINES = 4
const MAX_ATTRIBUTION_CHARACTERS = 600

/** The last line of "On Monday, Kim wrote:", which mail programs wrap; null if it does not start here. */
function findAttributionEnd(lines: readonly string[], n: number): number | null {
  if (!ATTRIBUTION_START.test(lines[n] ?? '')) return null
  let joined = ''
  for (let end = n; end < Math.min(lines.length, n + MAX_ATTRIBUTION_LINES); end += 1) {
    joined += ` ${lines[end] ?? ''}`
    if (joined.length > MAX_ATTRIBUTION_CHARACTERS) return null
    if (ATTRIBUTION_END.test(joined)) return end
  }
  return null
}

const SIGNATURE_LINE = /^-- ?$/
const DEVICE_LINE =
  /^\s*(?:sent from my \S.{0,40}|sent from (?:outlook|mail) for .{1,40}|get outlook for .{1,40}|von meinem \S.{0,40} gesendet|gesendet von .{1,60}|envoyé (?:de|depuis) mon .{1,40}|enviado desde mi .{1,40})\s*$/i

const cutSignature = (lines: readonly string[]): readonly string[] => lines.slice(0, findSignatureStart(lines))

/** The first line of the signature; the number of lines if there is none. */
function findSignatureStart(lines: readonly string[]): number {
  const marked = lines.findIndex((line) => SIGNATURE_LINE.test(line))
  if (marked !== -1) return marked
  const last = lines.findLastIndex((line) => line.trim() !== '')
  return last > 0 && DEVICE_LINE.test(lines[last] ?? '') ? last : lines.length
}
