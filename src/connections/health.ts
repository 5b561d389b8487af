import { type Ctx, inTx } from '../ctx/ctx.ts'
import { toIsoTime } from '../ctx/world.ts'
import { queueWebhookDeliveries } from '../events/webhook-events.ts'
import { type Connection, type ConnectionHealth, updateHealthOnFirstError, updateConnectionHealth } from './rows.ts'

/** A success is written at most once a minute while nothing is wrong: busy connections need no write for each call. */
const MIN_HEALTH_WRITE_INTERVAL_MS = 60_000

/** Keeps on the record when the connection last worked and what was wrong last. */
export async function recordConnectionHealth(ctx: Ctx, connection: Connection, error: string | null): Promise<void> {
  const now = ctx.world.clock.now()
  if (error !== null) {
    return writeHealth(ctx, connection, { last_error: error, last_error_at: toIsoTime(now) })
  }
  const fresh = connection.last_ok_at !== null && now - Date.parse(connection.last_ok_at) < MIN_HEALTH_WRITE_INTERVAL_MS
  if (fresh && connection.last_error === null) return
  await writeHealth(ctx, connection, { last_ok_at: toIsoTime(now), last_error: null, last_error_at: null })
}

/** A 404 or a 422 is about what was asked; the connection itself works. */
export function toHealthError(status: number | null, error: string | null): string | null {
  const aboutTheAsk = status !== null && status >= 400 && status < 500 && ![401, 403, 407].includes(status)
  return aboutTheAsk ? null : error
}

/** A note that cannot be written must not hide how the call itself ended. */
async function writeHealth(ctx: Ctx, connection: Connection, health: ConnectionHealth): Promise<void> {
  try {
    await inTx(ctx, async (tx) => {
      if (await updateHealthOnFirstError(tx.db, connection.id, health)) {
        await queueWebhookDeliveries(tx, connection.project_id, 'connection.failing', connection.id)
      } else await updateConnectionHealth(tx.db, connection.id, health)
    })
  } catch (err) {
    ctx.world.log.warn({ err, connection: connection.id }, 'health of a connection not noted')
  }
}
