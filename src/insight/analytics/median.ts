/** The median of values that are given with their counts; null if there are none. */
export function medianOfCounts(counts: ReadonlyMap<number, number>): number | null {
  const sorted = [...counts].toSorted(([a], [b]) => a - b)
  const total = sorted.reduce((sum, [, n]) => sum + n, 0)
  if (total === 0) return null
  const [low, high] = [valueAt(sorted, Math.floor((total - 1) / 2)), valueAt(sorted, Math.floor(total / 2))]
  return (low + high) / 2
}

function valueAt(sorted: readonly (readonly [number, number])[], position: number): number {
  let before = 0
  for (const [value, n] of sorted) {
    before += n
    if (position < before) return value
  }
  throw new Error(`no value at position ${position}`)
}
