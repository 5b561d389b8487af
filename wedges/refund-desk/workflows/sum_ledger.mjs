import { cents } from './money.mjs'

export default function sumLedger({ records }) {
  const refunds = records.map((record) => record.value ?? record).filter((entry) => entry.decision === 'refund')
  const categories = [...new Set(refunds.map((entry) => String(entry.category)))].toSorted(byName)
  return {
    entries: refunds.length,
    total_usd: total(refunds),
    by_category: categories.map((category) => {
      const entries = refunds.filter((entry) => entry.category === category)
      return { category, count: entries.length, total_usd: total(entries) }
    }),
  }
}

const byName = (a, b) => (a < b ? -1 : 1)
const total = (entries) => cents(entries.reduce((sum, entry) => sum + entry.amount_usd, 0))
