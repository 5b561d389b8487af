import type { Ctx } from '../ctx/ctx.ts'
import { sleep } from '../ctx/world.ts'
import { HEARTBEAT_INTERVAL_MS } from './replica-lease.ts'
import { listHeartbeats } from './rows.ts'

/** Whether a replica works on this store. One that has just stopped left a fresh heartbeat too, but it stands still. */
export async function isReplicaRunning(ctx: Ctx): Promise<boolean> {
  const before = new Map((await listHeartbeats(ctx.db, {})).map(({ id, seen_at }) => [id, seen_at]))
  if (before.size === 0) return false
  await sleep(ctx.world.clock, HEARTBEATS_TO_WAIT * HEARTBEAT_INTERVAL_MS)
  return (await listHeartbeats(ctx.db, {})).some(({ id, seen_at }) => before.get(id) !== seen_at)
}

const HEARTBEATS_TO_WAIT = 3
