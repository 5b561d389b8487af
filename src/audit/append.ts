import { type ChainHead, entryHash, GENESIS } from '../base/audit-chain.ts'
import { canonical, type JsonObject } from '../base/json.ts'
import type { Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { Common } from '../store/shared.ts'
import { insertEntry, insertHead, lastEntry, lockHead, moveHead } from './rows.ts'
import { type HeadRow, type Sealing, sealedWith, sealingAfter } from './seal.ts'

/** The chain of an organisation or a project begins with it, sealed: so one that has no head has lost it. */
export async function beginChain(tx: Tx, chain: string): Promise<void> {
  await insertHead(tx.db, { chain, ...BEGINNING, seal: sealedWith(tx.vault, chain, BEGINNING, { from: 1 }) })
}

const BEGINNING: ChainHead = { seq: 0, hash: GENESIS }

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
    ts: isoNow(tx),
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

async function headOf(tx: Tx, chain: string): Promise<Head> {
  const known = heads.get(tx.shared, chain)
  if (known) return known
  const [head] = await lockHead(tx.db, { chain })
  const row = head ?? (await headAnew(tx, chain))
  const sealing = sealingAfter(tx.vault, chain, row)
  if (!('kept' in sealing)) return { ...row, sealing }
  // Somebody may have moved the head back: that must not stop the work either.
  const last = await lastEntry(tx.db, chain)
  return { ...(last && last.seq > row.seq ? last : row), sealing }
}

/** For a chain that has lost its head: work goes on behind the last entry, but without a seal, and verify tells. */
export async function headAnew(tx: Tx, chain: string): Promise<HeadRow> {
  const last = await lastEntry(tx.db, chain)
  await insertHead(tx.db, { chain, ...(last ?? BEGINNING), seal: null })
  const [head] = await lockHead(tx.db, { chain })
  if (!head) throw new Error(`audit chain ${chain} has no head`)
  return head
}
