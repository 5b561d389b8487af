import type { Notifications } from '../ctx/notifications.ts'
import { parseProjectChange } from '../events/project-changes.ts'

/** How often a task or an approval came to a status by this replica's doing. */
export interface StatusCounters {
  task: Map<string, number>
  approval: Map<string, number>
}

/** Counts until the returned function is called. */
export function startStatusCounters(bells: Notifications): { moves: StatusCounters; stop: () => void } {
  const moves: StatusCounters = { task: new Map(), approval: new Map() }
  const stop = bells.subscribe('moved', (topic) => {
    const change = parseProjectChange(topic)
    if (change?.kind !== 'task' && change?.kind !== 'approval') return
    const counts = moves[change.kind]
    counts.set(change.status, (counts.get(change.status) ?? 0) + 1)
  })
  return { moves, stop }
}
