const DAY_MS = 86_400_000
const DAY = /^\d{4}-\d{2}-\d{2}$/

/** Uses the current day if the input has none, because the input of a scheduled task is fixed. */
export function dayOf(today) {
  return typeof today === 'string' && DAY.test(today) ? today : new Date().toISOString().slice(0, 10)
}

export function daysBetween(from, to) {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS)
}

export function levelFor(daysOverdue) {
  if (daysOverdue >= 30) return 'final'
  return daysOverdue >= 14 ? 'firm' : 'friendly'
}

export const isDay = (text) => typeof text === 'string' && DAY.test(text) && !Number.isNaN(Date.parse(text))

/** 1280 → "1,280.00 USD", as on the invoice, independent of the locale of the machine. */
export function usd(amount) {
  const [whole, cents] = amount.toFixed(2).split('.')
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${cents} USD`
}
