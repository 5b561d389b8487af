import { acknowledgement, ANSWER_WITHIN_HOURS, SAVED_REPLIES } from './texts.mjs'

// The first match wins, so billing and account problems come before less serious categories.
const CATEGORIES = [
  ['billing', /\b(invoice|charged?|billing|refund|payment|subscription|price|my plan|the plan)\b/i],
  ['account', /\b(log ?in|sign ?in|password|locked out|account|2fa|delete my)\b/i],
  ['bug', /\b(bug|error|broken|crash(es|ed)?|not working|doesn'?t work|wrong (hour|time)|fails?|failed)\b/i],
  ['how_to', /\b(how (do|can|to)|where (do|can|is)|is it possible|can i)\b/i],
  ['feedback', /\b(love|great|idea|suggest(ion)?|feature|wish|would be nice)\b/i],
]
const HIGH =
  /\b(urgent|asap|locked out|hacked|data loss|lost (all|my)|charged (me )?twice|can(no|')t (log ?in|sign ?in|work)|everyone|all (our|my) (customers|students))\b/i

export default function sortMessage({ subject, body }) {
  const text = `${typeof subject === 'string' ? subject : ''}\n${body}`
  const category = CATEGORIES.find(([, words]) => words.test(text))?.[0] ?? 'other'
  const urgency = HIGH.test(text) ? 'high' : category === 'feedback' ? 'low' : 'normal'
  return {
    category,
    urgency,
    answer_within_hours: ANSWER_WITHIN_HOURS[urgency],
    saved_reply: SAVED_REPLIES[category],
    acknowledgement: acknowledgement(urgency),
  }
}
