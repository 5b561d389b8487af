const STATUS = { refund: 'booked', decline: 'declined', escalate: 'escalated' }

// The amount and the message stay exactly as they were approved.
export default function bookRefund({ order_id, amount_usd, decision, category, customer_message, customer_email }) {
  const entry = {
    order_id,
    decision,
    category,
    amount_usd,
    currency: 'USD',
    status: STATUS[decision],
    customer_message,
  }
  return { entry: customer_email ? { ...entry, customer_email } : entry }
}
