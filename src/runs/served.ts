import type { Ctx } from '../ctx/ctx.ts'
import { sleep } from '../ctx/world.ts'
import { BEAT_MS } from './leases.ts'
import { heartbeats } from './rows.ts'

/** Whether a replica works on this store. One that has just stopped left a fresh heartbeat too, but it stands still. */
export async function isServed(ctx: Ctx): Promise<boolean> {
  const before = new Map((await heartbeats(ctx.db, {})).map(({ id, seen_at }) => [id, seen_at]))
  if (before.size === 0) return false
  await sleep(ctx.world.clock, BEATS * BEAT_MS)
  return (await heartbeats(ctx.db, {})).some(({ id, seen_at }) => before.get(id) !== seen_at)
}

const BEATS = 3
