import type { JsonObject } from '../../../src/platform/base/json.ts'

const request = {
  order_id: 'A-1042',
  amount_usd: 180,
  reason: 'the teapot arrived broken',
  customer_email: 'dana@example.com',
}
const message = {
  from: { handle: 'lee@example.com', name: 'Lee' },
  subject: 'Cannot log in',
  body: 'I am locked out of my account since this morning.',
}

/** The fixed text of the wedge for a message of low urgency. */
const ACKNOWLEDGEMENT =
  'Thank you, your message has reached us. A person will read it and answer within 72 working hours.\n\nThe Fernhill Studio team'

export const invoices: Record<string, JsonObject> = {
  'INV-201': invoice('Marlow Cafe', 1280, '2026-10-01'),
  'INV-202': { ...invoice('Quayside Theatre', 480.5, '2026-10-25'), last_reminded: '2026-11-10' },
  'INV-203': { ...invoice('Saltmarsh Bakery', 75.1, '2026-11-10'), last_reminded: null },
  'INV-204': { ...invoice('Old Mill School', 310, '2026-09-01'), status: 'paid' },
  'INV-205': invoice('Harbour Florist', 99, '2026-12-01'),
}

/** A sample input for each task type. */
export const exampleInputs: Record<string, Record<string, JsonObject>> = {
  'refund-desk': {
    handle_request: request,
    pay_out: { ...request, payment_intent: 'pi_1042' },
    assess: request,
    review_ledger: {},
  },
  'inbox-triage': { triage: message, answer: message, answer_mail: message, acknowledge: message, classify: message },
  'invoice-chaser': {
    chase_overdue: {},
    send_reminder: { invoice_id: 'INV-201' },
    escalate: { reason: 'the customer disputes the amount' },
    next_step: { invoice_id: 'INV-201' },
  },
}

export const workflowSamples: Record<string, Record<string, JsonObject[]>> = {
  'refund-desk': {
    check_eligibility: [
      request,
      { ...request, days_since_delivery: 45 },
      { ...request, order_total_usd: 200, refunded_usd: 150.1 },
      { ...request, refunded_usd: 10 },
    ],
    book_refund: ['refund', 'decline', 'escalate'].map((decision) => ({
      order_id: 'A-1042',
      amount_usd: 32.1,
      decision,
      category: 'damaged',
      customer_message: 'We have decided.  ',
      customer_email: null,
    })),
    write_receipt: [{ order_id: 'A-1042', category: 'damaged', amount_cents: 1999, approval_id: 'apr_1' }],
    sum_ledger: [
      { records: [] },
      { records: [0.1, 0.2].map((amount_usd) => ({ value: { decision: 'refund', category: 'damaged', amount_usd } })) },
    ],
  },
  'inbox-triage': {
    sort_message: [message, { body: 'What a lovely idea', subject: null }, { body: '' }],
    draft_reply: ['Help\n me', 'Re: Help', null].map((subject) => ({
      reply: 'We promise it by Monday.  \n\n\n\nBye',
      category: 'bug',
      urgency: 'high',
      subject,
    })),
    publish_reply: [{ reply: 'Bye  ', category: 'bug', urgency: 'high' }],
    publish_acknowledgement: [{ reply: ACKNOWLEDGEMENT, category: 'bug', urgency: 'low' }],
  },
  'invoice-chaser': {
    plan_reminders: [{ invoices: [] }, { invoices: Object.values(invoices), today: '2026-11-14' }],
    write_reminder: ['2026-10-05', '2026-10-20', '2026-11-14'].map((today) => ({
      invoice_id: 'INV-201',
      invoice: invoice('Marlow Cafe', 1280, '2026-10-01'),
      today,
    })),
  },
}

function invoice(customer: string, amount_usd: number, due_date: string): JsonObject {
  return { customer, email: 'accounts@example.com', amount_usd, due_date, status: 'open' }
}
