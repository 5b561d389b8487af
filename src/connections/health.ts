import { type Ctx, inTx } from '../ctx/ctx.ts'
import { isoTime } from '../ctx/world.ts'
import { notice } from '../events/notices.ts'
import { type Connection, type Health, setFirstError, setHealth } from './rows.ts'

/** A success is written at most once a minute while nothing is wrong: busy connections need no write for each call. */
const FRESH_MS = 60_000

/** Keeps on the record when the connection last worked and what was wrong last. */
export async function noteHealth(ctx: Ctx, connection: Connection, error: string | null): Promise<void> {
  const now = ctx.world.clock.now()
  if (error !== null) {
    return setIn(ctx, connection, { last_error: error, last_error_at: isoTime(now) })
  }
  const fresh = connection.last_ok_at !== null && now - Date.parse(connection.last_ok_at) < FRESH_MS
  if (fresh && connection.last_error === null) return
  await setIn(ctx, connection, { last_ok_at: isoTime(now), last_error: null, last_error_at: null })
}

/** A 404 or a 422 is about what was asked; the connection itself works. */
export function healthError(status: number | null, error: string | null): string | null {
  const aboutTheAsk = status !== null && status >= 400 && status < 500 && ![401, 403, 407].includes(status)
  return aboutTheAsk ? null : error
}

/** A note that cannot be written must not hide how the call itself ended. */
async function setIn(ctx: Ctx, connection: Connection, health: Health): Promise<void> {
  try {
    await inTx(ctx, async (tx) => {
      if (await setFirstError(tx.db, connection.id, health)) {
        await notice(tx, connection.project_id, 'connection.failing', connection.id)
      } else await setHealth(tx.db, connection.id, health)
    })
  } catch (err) {
    ctx.world.log.warn({ err, connection: connection.id }, 'health of a connection not noted')
  }
}
