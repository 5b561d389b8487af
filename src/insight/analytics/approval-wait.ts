/** Stored for approvals that no person decided. */
export const NO_WAIT = -1

interface DecidedApproval {
  status: string
  created_at: string
  decided_at: string | null
  decided_by_kind: string | null
}

/**
 * How long a person took to decide, in milliseconds. From ten seconds on it is rounded to seconds, and to three digits:
 * so the waits of a year are a short list of counted values, even if approvals stay open for weeks.
 */
export function approvalWaitMs({ status, created_at, decided_at, decided_by_kind }: DecidedApproval): number {
  const byPerson = (status === 'approved' || status === 'rejected') && decided_by_kind !== 'system'
  if (!byPerson || decided_at === null) return NO_WAIT
  const ms = Math.max(0, Date.parse(decided_at) - Date.parse(created_at))
  return ms < 10_000 ? Number(ms.toPrecision(3)) : Number(Math.round(ms / 1000).toPrecision(3)) * 1000
}

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
