interface Summand {
  runs: number
  cost_micros: number
}

/** One row per key, sorted by key: replicas that add to the same rows lock them in the same order. */
export function sumByKey<Row extends Summand>(rows: readonly Row[], keyOf: (row: Row) => (string | number)[]): Row[] {
  const sums = new Map<string, Row>()
  for (const row of rows) {
    const key = JSON.stringify(keyOf(row))
    const sum = sums.get(key)
    sums.set(key, sum ? { ...sum, runs: sum.runs + row.runs, cost_micros: sum.cost_micros + row.cost_micros } : row)
  }
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}
