import { cents } from './money.mjs'

const STATUS = { refund: 'booked', decline: 'declined', escalate: 'escalated' }

export default function bookRefund({ order_id, amount_usd, decision, category, customer_email }) {
  // Only a refund has an amount: a declined or escalated request is booked as zero.
  const amount = decision === 'refund' ? cents(amount_usd) : 0
  const entry = {
    order_id,
    decision,
    category,
    amount_usd: amount,
    currency: 'USD',
    status: STATUS[decision],
    customer_message: customerMessage(decision, order_id, amount),
  }
  return { entry: customer_email ? { ...entry, customer_email } : entry }
}

function customerMessage(decision, orderId, amount) {
  const signature = '\n\nThe Larkspur Goods team'
  if (decision === 'refund') {
    return `We have approved your refund of ${amount.toFixed(2)} USD for order ${orderId}. It goes back to your original means of payment and shows on your statement within 5 to 10 working days of being paid out.${signature}`
  }
  if (decision === 'decline') {
    return `We have looked at your request for order ${orderId} and cannot refund it under our refund policy. If we have missed something, reply to this message and a colleague will look at it again.${signature}`
  }
  return `Thank you for your request about order ${orderId}. A colleague is looking at it personally and will write to you.${signature}`
}
