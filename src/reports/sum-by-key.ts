interface Summand {
  runs: number
  cost_micros: number
}

type KeyOf<Row> = (row: Row) => (string | number)[]

/** Adds each row to the sum of its key. */
export function addByKey<Row extends Summand>(sums: Map<string, Row>, rows: readonly Row[], keyOf: KeyOf<Row>): void {
  for (const row of rows) {
    const key = JSON.stringify(keyOf(row))
    const sum = sums.get(key)
    sums.set(key, sum ? { ...sum, runs: sum.runs + row.runs, cost_micros: sum.cost_micros + row.cost_micros } : row)
  }
}

/** One row per key, sorted by key: replicas that add to the same rows lock them in the same order. */
export function sumByKey<Row extends Summand>(rows: readonly Row[], keyOf: KeyOf<Row>): Row[] {
  const sums = new Map<string, Row>()
  addByKey(sums, rows, keyOf)
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}
