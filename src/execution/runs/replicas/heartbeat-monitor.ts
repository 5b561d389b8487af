/**
 * Observes the heartbeats of all replicas. A replica whose heartbeat changes is alive, regardless of the time in it:
 * after a jump of the database clock all heartbeats look old to the first replica that notices the jump.
 */
export class HeartbeatMonitor {
  #heartbeats = new Map<string, { seenAt: string; unchangedChecks: number }>()

  observe(heartbeats: readonly { id: string; seen_at: string }[]): void {
    const known = this.#heartbeats
    this.#heartbeats = new Map(
      heartbeats.map(({ id, seen_at }) => {
        const last = known.get(id)
        return [id, { seenAt: seen_at, unchangedChecks: last?.seenAt === seen_at ? last.unchangedChecks + 1 : 0 }]
      }),
    )
  }

  /** Whether the heartbeat has not changed for three checks, so that the replica must have stopped. */
  isSilent(replica: string): boolean {
    return (this.#heartbeats.get(replica)?.unchangedChecks ?? MIN_SILENT_CHECKS) >= MIN_SILENT_CHECKS
  }
}

const MIN_SILENT_CHECKS = 3
