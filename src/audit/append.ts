import { canonicalJson, type JsonObject } from '../platform/base/json.ts'
import { type ChainHead, entryHash, GENESIS_HASH } from '../platform/contract/audit/audit-chain.ts'
import type { Tx } from '../platform/ctx/ctx.ts'
import type { Actor } from '../platform/ctx/scope.ts'
import { isoNow } from '../platform/ctx/world.ts'
import { GroupCommitCache } from '../platform/store/group-commit-state.ts'
import { findLastAuditEntry, insertAuditEntry, insertChainHead, lockChainHead, updateChainHead } from './rows.ts'
import { type NextSeal, planNextSeal, type SealedHead, sealHead } from './seal.ts'

/** Called when an organisation or a project is created. Every chain has a sealed head, so a missing head is a fault. */
export async function createAuditChain(tx: Tx, chain: string): Promise<void> {
  await insertChainHead(tx.db, { chain, ...EMPTY_HEAD, seal: sealHead(tx.vault, chain, EMPTY_HEAD, { from: 1 }) })
}

const EMPTY_HEAD: ChainHead = { seq: 0, hash: GENESIS_HASH }

/**
 * Adds an entry in the transaction of the change that it records, so neither can be committed without the other. The
 * chain's head row stays locked until the commit, so call this last.
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
  const { nextSeal } = head
  headsOfCommit.set(tx.groupCommit, chain, { seq, hash, nextSeal })
  // All entries of one commit share one update of the head.
  tx.groupCommit.writeAtEnd(`audit head of ${chain}`, (db) =>
    updateChainHead(db, { chain, seq, hash, seal: sealHead(tx.vault, chain, { seq, hash }, nextSeal) }),
  )
}

interface LockedHead extends ChainHead {
  nextSeal: NextSeal
}

/** The heads that the current commit has locked, with the entries it has added so far. */
const headsOfCommit = new GroupCommitCache<LockedHead>()

async function lockedHead(tx: Tx, chain: string): Promise<LockedHead> {
  const cached = headsOfCommit.get(tx.groupCommit, chain)
  if (cached) return cached
  const [head] = await lockChainHead(tx.db, { chain })
  const row = head ?? (await recreateChainHead(tx, chain))
  const nextSeal = planNextSeal(tx.vault, chain, row)
  if (!('kept' in nextSeal)) return { ...row, nextSeal }
  // A tampered head may point before the last entry; appending after that entry keeps the service working.
  const last = await findLastAuditEntry(tx.db, chain)
  return { ...(last && last.seq > row.seq ? last : row), nextSeal }
}

/** For a chain without a head: it continues after the last entry but unsealed, so that verification reports it. */
export async function recreateChainHead(tx: Tx, chain: string): Promise<SealedHead> {
  const last = await findLastAuditEntry(tx.db, chain)
  await insertChainHead(tx.db, { chain, ...(last ?? EMPTY_HEAD), seal: null })
  const [head] = await lockChainHead(tx.db, { chain })
  if (!head) throw new Error(`audit chain ${chain} has no head`)
  return head
}
