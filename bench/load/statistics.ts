export interface Target {
  /** Default: this machine. */
  host?: string
  port: number
  key: string
  /** Of a member who calls in one project. */
  project?: string | undefined
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
