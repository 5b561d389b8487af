export default function writeReceipt({ order_id, category, amount_cents, approval_id }) {
  const amount_usd = amount_cents / 100
  return {
    order_id,
    category,
    amount_usd,
    amount_cents,
    approval_id,
    subject: `Your refund for order ${order_id}`,
    text: `We have refunded $${amount_usd.toFixed(2)} for order ${order_id}. It goes back to your original means of payment and shows on your statement within 5 to 10 working days.\n\nThe Larkspur Goods team`,
  }
}
