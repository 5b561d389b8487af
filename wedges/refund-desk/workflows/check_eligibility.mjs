import { cents } from './money.mjs'

const DESK_LIMIT_USD = 500
const WINDOW_DAYS = 30

// The first match wins, so reasons that require a refund come before those that only allow one.
const CATEGORIES = [
  ['duplicate_charge', /\b((charged|billed|paid)( me)? twice|double[- ]charge|duplicate|two charges)/i],
  ['damaged', /\b(damaged|broken|cracked|chipped|faulty|defective|torn|not working|stopped working)/i],
  ['wrong_item', /\b(wrong (item|size|colou?r|product|order)|not what i ordered|different item)/i],
  ['not_delivered', /\b(never (came|arrived)|not (arrived|delivered|received)|lost|missing)/i],
  ['changed_mind', /\b(changed my mind|no longer (need|want)|don'?t (need|want|like)|does(n'?t| not) fit|return)/i],
]
const ESCALATE = /\b(chargeback|lawyer|attorney|legal action|regulator|suing)\b/i
const ANY_TIME = ['duplicate_charge', 'not_delivered']

export default function checkEligibility(request) {
  const category = CATEGORIES.find(([, words]) => words.test(request.reason))?.[0] ?? 'other'
  const refundable = refundableUsd(request)
  const answer = (decision, ...reasons) => {
    // Only a refund has an amount: a declined or escalated request is booked as zero.
    const refundable_usd = decision === 'refund' ? refundable : 0
    return {
      order_id: request.order_id,
      eligible: decision === 'refund',
      decision,
      category,
      refundable_usd,
      refundable_cents: Math.round(refundable_usd * 100),
      customer_message: customerMessage(decision, request.order_id, refundable_usd),
      reasons,
    }
  }

  if (ESCALATE.test(request.reason)) return answer('escalate', 'the request mentions a dispute')
  if (!(request.amount_usd > 0)) return answer('decline', 'the amount is not positive')
  if (request.refunded_usd > 0 && request.order_total_usd === undefined) {
    return answer('escalate', 'refunded before, and what is left of the order is not known')
  }
  if (refundable <= 0) return answer('decline', 'the order has been refunded in full')
  if (refundable > DESK_LIMIT_USD) return answer('escalate', `above the desk limit of ${DESK_LIMIT_USD} USD`)
  if (category === 'other') return answer('escalate', 'the reason fits no rule')
  if (request.days_since_delivery > WINDOW_DAYS && !ANY_TIME.includes(category)) {
    return answer('decline', `asked more than ${WINDOW_DAYS} days after delivery`)
  }
  if (refundable < request.amount_usd)
    return answer('refund', `reason: ${category}`, 'limited to what is left of the order')
  return answer('refund', `reason: ${category}`)
}

function refundableUsd({ amount_usd, order_total_usd, refunded_usd = 0 }) {
  const left = order_total_usd === undefined ? amount_usd : order_total_usd - refunded_usd
  return cents(Math.max(0, Math.min(amount_usd, left)))
}

function customerMessage(decision, orderId, amount) {
  const signature = '\n\nThe Larkspur Goods team'
  if (decision === 'refund') {
    return `We have approved your refund of $${amount.toFixed(2)} for order ${orderId}. It goes back to your original means of payment and shows on your statement within 5 to 10 working days of being paid out.${signature}`
  }
  if (decision === 'decline') {
    return `We have looked at your request for order ${orderId} and cannot refund it under our refund policy. If we have missed something, reply to this message and a colleague will look at it again.${signature}`
  }
  return `Thank you for your request about order ${orderId}. A colleague is looking at it personally and will write to you.${signature}`
}
