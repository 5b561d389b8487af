import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { toIsoTime } from '../../platform/ctx/world.ts'
import { queueWebhookDeliveries } from '../../work/events/webhook-events.ts'
import { type Connection, type ConnectionHealth, updateHealthOnFirstError, updateConnectionHealth } from './rows.ts'

/** A healthy connection writes its last success at most once a minute, not on every call. */
const MIN_HEALTH_WRITE_INTERVAL_MS = 60_000

/** Records when the connection last worked, or its last error. */
export async function recordConnectionHealth(ctx: Ctx, connection: Connection, error: string | null): Promise<void> {
  const now = ctx.world.clock.now()
  if (error !== null) {
    return writeHealth(ctx, connection, { last_error: error, last_error_at: toIsoTime(now) })
  }
  const fresh = connection.last_ok_at !== null && now - Date.parse(connection.last_ok_at) < MIN_HEALTH_WRITE_INTERVAL_MS
  if (fresh && connection.last_error === null) return
  await writeHealth(ctx, connection, { last_ok_at: toIsoTime(now), last_error: null, last_error_at: null })
}

/** Null for a 404, 422 and the like, or an error in a 200: the request was wrong, but the connection works. */
export function toHealthError(status: number | null, error: string | null): string | null {
  const [hundreds] = String(status ?? '')
  const isRequestError = (hundreds === '2' || hundreds === '4') && ![401, 403, 407].includes(status ?? 0)
  return isRequestError ? null : error
}

/** Logs a failed write instead of throwing, so that the caller still gets the result of its call. */
async function writeHealth(ctx: Ctx, connection: Connection, health: ConnectionHealth): Promise<void> {
  try {
    await inTx(ctx, async (tx) => {
      if (await updateHealthOnFirstError(tx.db, connection.id, health)) {
        await queueWebhookDeliveries(tx, connection.project_id, 'connection.failing', connection.id)
      } else await updateConnectionHealth(tx.db, connection.id, health)
    })
  } catch (err) {
    ctx.world.log.warn({ err, connection: connection.id }, 'connection health was not recorded')
  }
}
