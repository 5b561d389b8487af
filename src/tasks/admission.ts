import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { badRequest, conflict, tooMany } from '../base/problem.ts'
import type { Tx } from '../ctx/ctx.ts'
import { isoTime } from '../ctx/world.ts'
import { countTurn, dropOldKey, findKey, holdKey, nextSlot, startRing, takeTurn } from './admission-rows.ts'

const DAY = 24 * 60 * 60 * 1000
const WINDOW = 60_000

/** What `Idempotency-Key` binds: the key and the request that it came with first. */
export interface IdempotencyKey {
  key: string
  bodyHash: string
}

export function idempotencyKey({ headers, body }: Pick<FastifyRequest, 'headers' | 'body'>): IdempotencyKey | null {
  const header = headers['idempotency-key']
  if (header === undefined) return null
  if (typeof header !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(header)) {
    throw badRequest("header 'idempotency-key' must be 1 to 255 printable characters")
  }
  return {
    key: header,
    bodyHash: createHash('sha256')
      .update(Buffer.isBuffer(body) ? body : '')
      .digest('hex'),
  }
}

/**
 * Binds the key to a new task, or names the task that it is bound to. Of many simultaneous requests one inserts the
 * row and the others wait for its commit.
 */
export async function bindKey(
  tx: Tx,
  projectId: string,
  { key, bodyHash }: IdempotencyKey,
  taskId: string,
): Promise<string> {
  const now = tx.world.clock.now()
  await dropOldKey(tx.db, { project_id: projectId, key, before: isoTime(now - DAY) })
  const [held] = await holdKey(tx.db, {
    project_id: projectId,
    key,
    body_hash: bodyHash,
    task_id: taskId,
    created_at: isoTime(now),
  })
  if (held) return taskId
  const [known] = await findKey(tx.db, { project_id: projectId, key })
  if (known?.body_hash !== bodyHash) throw conflict('idempotency key was used with another body')
  return known.task_id
}

/**
 * Admits a creation if the one `limit` before it is a minute old: a sliding window that is exact over all replicas,
 * because the project's count of turns is locked until the commit.
 */
export async function takeRateTurn(tx: Tx, subject: string, limit: number, noun: string): Promise<void> {
  const now = tx.world.clock.now()
  const turn = { project_id: subject, limit, now, since: now - WINDOW }
  let [taken] = await takeTurn(tx.db, turn)
  const former = taken ? null : ((await nextSlot(tx.db, turn))[0]?.taken ?? null)
  if (!taken && (former === null || former <= turn.since)) {
    // There was no ring when it was looked for.
    await startRing(tx.db, turn)
    ;[taken] = await takeTurn(tx.db, turn)
  }
  if (!taken) throw tooMany(`more than ${limit} ${noun} in a minute`, ((former ?? now) + WINDOW - now) / 1000)
  await countTurn(tx.db, turn)
}
