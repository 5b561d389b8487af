import type { Ctx } from '../../platform/ctx/ctx.ts'
import { listEventPage } from '../../work/events/rows.ts'
import type { TraceEvent } from './trace.ts'

/** These are most of a log, and a trace does not use them. */
const IGNORED_TYPES = new Set(['token.delta', 'progress'])

export async function readTraceEvents({ store }: Pick<Ctx, 'store'>, task_id: string): Promise<TraceEvent[]> {
  const events: TraceEvent[] = []
  for (let after = 0, hasLongEvents = false; ; ) {
    const page = await listEventPage(store.lists, { task_id, after }, hasLongEvents)
    for (const { seq, type, ts, data } of page.rows) {
      if (!IGNORED_TYPES.has(type)) events.push({ seq, type, ts, data: JSON.parse(data) })
    }
    const last = page.rows.at(-1)
    if (!last || !page.more) return events
    after = last.seq
    hasLongEvents = page.hasLongEvents
  }
}
