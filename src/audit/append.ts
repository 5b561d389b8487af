import { type ChainHead, entryHash, GENESIS_HASH } from '../contract/audit-chain.ts'
import { canonicalJson, type JsonObject } from '../base/json.ts'
import type { Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { GroupCommitCache } from '../store/group-commit-state.ts'
import { insertAuditEntry, insertChainHead, findLastAuditEntry, lockChainHead, updateChainHead } from './rows.ts'
import { type SealedHead, type NextSeal, sealHead, planNextSeal } from './seal.ts'

/** The chain of an organisation or a project begins with it, sealed: so one that has no head has lost it. */
export async function createAuditChain(tx: Tx, chain: string): Promise<void> {
  await insertChainHead(tx.db, { chain, ...EMPTY_HEAD, seal: sealHead(tx.vault, chain, EMPTY_HEAD, { from: 1 }) })
}

const EMPTY_HEAD: ChainHead = { seq: 0, hash: GENESIS_HASH }

/**
 * Adds a line to the chain, in the transaction of the change that it tells of: no line, no change. The chain's head
 * row stays locked until the commit, so call this last.
 */
export async function appendAuditEntry(
  tx: Tx,
  chain: string,
  actor: Actor,
  action: string,
  subject: string,
  data: JsonObject = {},
): Promise<void> {
  const head = await lockedHead(tx, chain)
  const seq = head.seq + 1
  const entry = {
    seq,
    ts: isoNow(tx),
    actor,
    action,
    subject,
    data: canonicalJson(data),
    prev_hash: head.hash,
  }
  const hash = entryHash(entry)
  await insertAuditEntry(tx.db, {
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
  headsOfCommit.set(tx.groupCommit, chain, { seq, hash, sealing })
  // Once for all of them.
  tx.groupCommit.writeAtEnd(`audit head of ${chain}`, (db) =>
    updateChainHead(db, { chain, seq, hash, seal: sealHead(tx.vault, chain, { seq, hash }, sealing) }),
  )
}

interface LockedHead extends ChainHead {
  sealing: NextSeal
}

/** The heads that a commit has moved: each is locked, so nobody else moves it meanwhile. */
const headsOfCommit = new GroupCommitCache<LockedHead>()

async function lockedHead(tx: Tx, chain: string): Promise<LockedHead> {
  const known = headsOfCommit.get(tx.groupCommit, chain)
  if (known) return known
  const [head] = await lockChainHead(tx.db, { chain })
  const row = head ?? (await recreateChainHead(tx, chain))
  const sealing = planNextSeal(tx.vault, chain, row)
  if (!('kept' in sealing)) return { ...row, sealing }
  // Somebody may have moved the head back: that must not stop the work either.
  const last = await findLastAuditEntry(tx.db, chain)
  return { ...(last && last.seq > row.seq ? last : row), sealing }
}

/** For a chain that has lost its head: work goes on behind the last entry, but without a seal, and verify tells. */
export async function recreateChainHead(tx: Tx, chain: string): Promise<SealedHead> {
  const last = await findLastAuditEntry(tx.db, chain)
  await insertChainHead(tx.db, { chain, ...(last ?? EMPTY_HEAD), seal: null })
  const [head] = await lockChainHead(tx.db, { chain })
  if (!head) throw new Error(`audit chain ${chain} has no head`)
  return head
}
