import type { ChangeHints } from '../../platform/ctx/change-hints.ts'

/** How often this replica gave a task or an approval each status. */
export interface StatusCounters {
  task: Map<string, number>
  approval: Map<string, number>
}

/** Counts until `stop` is called. */
export function startStatusCounters(changeHints: ChangeHints): { counters: StatusCounters; stop: () => void } {
  const counters: StatusCounters = { task: new Map(), approval: new Map() }
  const stop = changeHints.subscribe({ topic: 'status-changed' }, ({ change: { kind, status } }) => {
    if (kind !== 'task' && kind !== 'approval') return
    counters[kind].set(status, (counters[kind].get(status) ?? 0) + 1)
  })
  return { counters, stop }
}
