import { dayOf, daysBetween, isDay, levelFor } from './invoices.mjs'

const DAYS_BETWEEN_REMINDERS = 7

export default function planReminders({ invoices, today }) {
  const day = dayOf(today)
  const overdue = invoices
    .map(readInvoice)
    .filter((invoice) => invoice.status === 'open' && isDay(invoice.due_date) && invoice.due_date < day)
    .map((invoice) => ({ ...invoice, days_overdue: daysBetween(invoice.due_date, day) }))
    .toSorted(oldestFirst)
  return {
    day,
    checked: invoices.length,
    overdue: overdue.length,
    total_overdue_usd: Math.round(overdue.reduce((sum, invoice) => sum + invoice.amount_usd, 0) * 100) / 100,
    due_reminders: overdue.filter((invoice) => mayRemind(invoice, day)).map(reminder),
  }
}

function readInvoice(record) {
  const value = record.value ?? record
  const amount = Number(value.amount_usd)
  return {
    invoice_id: String(record.key ?? value.invoice_id ?? ''),
    status: value.status ?? 'open',
    due_date: value.due_date,
    last_reminded: value.last_reminded,
    amount_usd: Number.isFinite(amount) ? amount : 0,
  }
}

function oldestFirst(a, b) {
  return b.days_overdue - a.days_overdue || (a.invoice_id < b.invoice_id ? -1 : 1)
}

function mayRemind({ last_reminded }, day) {
  return !isDay(last_reminded) || daysBetween(last_reminded, day) >= DAYS_BETWEEN_REMINDERS
}

function reminder({ invoice_id, amount_usd, days_overdue }) {
  return { invoice_id, level: levelFor(days_overdue), days_overdue, amount_usd }
}
