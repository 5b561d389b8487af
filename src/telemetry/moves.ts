import type { Bells } from '../ctx/bells.ts'
import { changeIn } from '../events/changes.ts'

/** How often a task or an approval came to a status by this replica's doing. */
export interface Moves {
  task: Map<string, number>
  approval: Map<string, number>
}

/** Counts until the returned function is called. */
export function countMoves(bells: Bells): { moves: Moves; stop: () => void } {
  const moves: Moves = { task: new Map(), approval: new Map() }
  const stop = bells.on('moved', (topic) => {
    const change = changeIn(topic)
    if (change?.kind !== 'task' && change?.kind !== 'approval') return
    const counts = moves[change.kind]
    counts.set(change.status, (counts.get(change.status) ?? 0) + 1)
  })
  return { moves, stop }
}
