/** Durations by bucket, for a Prometheus histogram. */
export interface Histogram {
  /** Upper bounds in seconds. */
  bounds: readonly number[]
  /** One number for each bound, and a last one for what is longer. Each duration is in one bucket only. */
  counts: number[]
  /** The sum of all durations in seconds. */
  sum: number
}

export const createHistogram = (bounds: readonly number[]): Histogram => ({
  bounds,
  counts: Array.from({ length: bounds.length + 1 }, () => 0),
  sum: 0,
})

export function addDuration(histogram: Histogram, ms: number): void {
  const seconds = ms / 1000
  let bucket = 0
  while (seconds > (histogram.bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket++
  histogram.counts[bucket] = (histogram.counts[bucket] ?? 0) + 1
  histogram.sum += seconds
}
