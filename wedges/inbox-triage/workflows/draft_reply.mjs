import { SIGNATURE } from './texts.mjs'

const PROMISES = [
  [/\b(guarantee|definitely|i promise|we promise)\b/i, 'promises something'],
  [/\b(we|i) (will|have|'ll|'ve) refund/i, 'speaks of a refund'],
  [/\b(by (monday|tuesday|wednesday|thursday|friday|tomorrow|tonight))\b/i, 'names a date'],
]
const MAX_WORDS = 120

export default function draftReply({ reply, category, urgency, subject }) {
  const text = reply
    .replaceAll('\r\n', '\n')
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
  return {
    reply: text.endsWith(SIGNATURE) ? text : `${text}\n\n${SIGNATURE}`,
    subject: replySubject(subject),
    category,
    urgency,
    warnings: warnings(text),
  }
}

function replySubject(subject) {
  const line = typeof subject === 'string' ? subject.replace(/\s+/g, ' ').trim() : ''
  if (line === '') return 'Your message'
  return /^re:/i.test(line) ? line : `Re: ${line}`
}

function warnings(text) {
  const found = PROMISES.filter(([words]) => words.test(text)).map(([, warning]) => warning)
  return text.split(/\s+/).length > MAX_WORDS ? [...found, `longer than ${MAX_WORDS} words`] : found
}
