import { dayOf, daysBetween, levelFor, usd } from './invoices.mjs'

const SIGNATURE = 'Tidewater Print, accounts@example.com'
const SETTLE =
  'You can settle it by bank transfer with the invoice number as reference, or with the link on the invoice.'

export default function writeReminder({ invoice_id, invoice, today }) {
  const day = dayOf(today)
  const late = daysBetween(invoice.due_date, day)
  const level = levelFor(late)
  const facts = `invoice ${invoice_id} over ${usd(invoice.amount_usd)}`
  return {
    invoice_id,
    day,
    level,
    to: invoice.email,
    subject: SUBJECTS[level](invoice_id),
    invoice: { ...invoice, last_reminded: day },
    text: `Dear ${invoice.customer},\n\n${LETTERS[level](facts, invoice.due_date, late)}\n\n${SIGNATURE}`,
  }
}

const SUBJECTS = {
  friendly: (id) => `A reminder: invoice ${id}`,
  firm: (id) => `Invoice ${id} is overdue`,
  final: (id) => `Final notice: invoice ${id}`,
}

const LETTERS = {
  friendly: (facts, due) =>
    `${facts.replace('invoice', 'Invoice')} was due on ${due} and may have slipped through. ${SETTLE} If it is already on its way, please ignore this message.`,
  firm: (facts, due, late) =>
    `${facts.replace('invoice', 'Invoice')} was due on ${due} and is now ${late} days late. ${SETTLE} Please tell us the day on which we can expect it, or what stands in the way; we are glad to help.`,
  final: (facts, due, late) =>
    `this is our final notice for ${facts}, due on ${due} and now ${late} days late. ${SETTLE} If we do not hear from you within seven days, a colleague will take this up with you in person.`,
}
