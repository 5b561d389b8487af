import { type ChainHead, entryHash, GENESIS } from '../base/audit-chain.ts'
import { canonical, type JsonObject } from '../base/json.ts'
import type { Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { isoTime } from '../ctx/world.ts'
import { Common } from '../store/shared.ts'
import { insertEntry, lockHead, moveHead, startChain } from './rows.ts'
import { type HeadRow, type Sealing, sealedWith, sealingAfter } from './seal.ts'

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
  const head = await headOf(tx, chain)
  const seq = head.seq + 1
  const entry = {
    seq,
    ts: isoTime(tx.world.clock.now()),
    actor,
    action,
    subject,
    data: canonical(data),
    prev_hash: head.hash,
  }
  const hash = entryHash(entry)
  await insertEntry(tx.db, {
    chain,
    seq,
    ts: entry.ts,
    actor_kind: actor.kind,
    actor_id: actor.id,
    action,
    subject,
    data: entry.data,
    prev_hash: entry.prev_hash,
    hash,
  })
  const { sealing } = head
  heads.set(tx.shared, chain, { seq, hash, sealing })
  // Once for all of them.
  tx.shared.writeLast(`audit head of ${chain}`, (db) =>
    moveHead(db, { chain, seq, hash, seal: sealedWith(tx.vault, chain, { seq, hash }, sealing) }),
  )
}

interface Head extends ChainHead {
  sealing: Sealing
}

/** The heads that a commit has moved: each is locked, so nobody else moves it meanwhile. */
const heads = new Common<Head>()

/** The newest entry, or the beginning of a chain that has none. */
async function headOf(tx: Tx, chain: string): Promise<Head> {
  const known = heads.get(tx.shared, chain)
  if (known) return known
  const [head] = await lockHead(tx.db, { chain })
  const row = head ?? (await firstHead(tx, chain))
  return { ...row, sealing: sealingAfter(tx.vault, chain, row) }
}

async function firstHead(tx: Tx, chain: string): Promise<HeadRow> {
  await startChain(tx.db, { chain, hash: GENESIS })
  const [first] = await lockHead(tx.db, { chain })
  if (!first) throw new Error(`audit chain ${chain} has no head`)
  return first
}
