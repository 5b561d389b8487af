/**
 * What a replica sees of the hearts of all. One that beats lives, whatever time it tells: after a leap of the
 * database's clock, all beats look old to whoever hears of the leap first.
 */
export class HeartbeatMonitor {
  #beats = new Map<string, { seenAt: string; looks: number }>()

  observe(beats: readonly { id: string; seen_at: string }[]): void {
    const known = this.#beats
    this.#beats = new Map(
      beats.map(({ id, seen_at }) => {
        const last = known.get(id)
        return [id, { seenAt: seen_at, looks: last?.seenAt === seen_at ? last.looks + 1 : 0 }]
      }),
    )
  }

  /** Whether nothing has changed for so many looks that a beat between them must have failed. */
  isSilent(replica: string): boolean {
    return (this.#beats.get(replica)?.looks ?? MIN_SILENT_CHECKS) >= MIN_SILENT_CHECKS
  }
}

const MIN_SILENT_CHECKS = 3
