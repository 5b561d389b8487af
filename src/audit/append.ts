import { createHash } from 'node:crypto'
import { canonical, type JsonObject } from '../base/json.ts'
import type { Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { isoTime } from '../ctx/world.ts'
import { insertEntry, setHeadHash, startChain, takeHead } from './rows.ts'

/** An entry as it is hashed and shown; `hash` covers all the rest. */
export interface AuditEntry {
  seq: number
  ts: string
  actor: Actor
  action: string
  subject: string
  data: JsonObject
  prev_hash: string
  hash: string
}

/** Before the first entry there is nothing to chain to. */
export const GENESIS = '0'.repeat(64)

/**
 * Adds a line to the chain, in the transaction of the change that it tells of: no line, no change. The chain's head
 * row stays locked until the commit, so call this last.
 */
export async function audit(
  tx: Tx,
  chain: string,
  actor: Actor,
  action: string,
  subject: string,
  data: JsonObject = {},
): Promise<void> {
  const head = await lockHead(tx, chain)
  const ts = isoTime(tx.world.clock.now())
  const entry = {
    seq: head.seq,
    ts,
    actor: { kind: actor.kind, id: actor.id },
    action,
    subject,
    data,
    prev_hash: head.hash,
  }
  const hash = entryHash(entry)
  await insertEntry(tx.db, {
    ...entry,
    chain,
    actor_kind: actor.kind,
    actor_id: actor.id,
    data: JSON.stringify(data),
    hash,
  })
  await setHeadHash(tx.db, { chain, hash })
}

export function entryHash(entry: Omit<AuditEntry, 'hash'>): string {
  const { seq, ts, actor, action, subject, data, prev_hash } = entry
  const text = canonical({ seq, ts, actor: { kind: actor.kind, id: actor.id }, action, subject, data, prev_hash })
  return createHash('sha256').update(text).digest('hex')
}

/** The number of the new entry and the hash before it. */
async function lockHead(tx: Tx, chain: string): Promise<{ seq: number; hash: string }> {
  const [head] = await takeHead(tx.db, { chain })
  if (head) return head
  await startChain(tx.db, { chain, hash: GENESIS })
  const [first] = await takeHead(tx.db, { chain })
  if (!first) throw new Error(`audit chain ${chain} has no head`)
  return first
}
