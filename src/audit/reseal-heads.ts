import { type Ctx, inTx, type Tx } from '../platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../platform/ctx/scope.ts'
import type { Vault } from '../platform/ctx/vault.ts'
import { appendAuditEntry, recreateChainHead } from './append.ts'
import { listChains, lockChainHead, updateChainHead } from './rows.ts'
import { type SealedHead, checkSeal, type SealFault, computeSeal } from './seal.ts'
import { verifyStoredChain } from './verify.ts'

export interface ChainAdoption {
  /** The fault of each head and the number of entries. The chain is sealed from the next entry, which records this. */
  adopted: { chain: string; found: SealFault; entries: number }[]
  /** Chains with another problem stay unchanged. */
  refused: { chain: string; problem: string }[]
}

/**
 * Seals the chains that an upgrade or a key change left without a seal of the current key. Only the operator can tell
 * these from chains whose seal was removed, so the service never does it by itself. Repeatable.
 */
export async function adoptChains(ctx: Ctx): Promise<ChainAdoption> {
  const adoption: ChainAdoption = { adopted: [], refused: [] }
  for (const chain of await listChains(ctx.db)) {
    const { problem } = await verifyStoredChain(ctx, chain)
    if (problem === null) continue
    const adopted = await inTx(ctx, (tx) => adoptChain(tx, chain, problem))
    if (adopted) adoption.adopted.push({ chain, ...adopted })
    else adoption.refused.push({ chain, problem })
  }
  return adoption
}

/** Null when the problem is not a missing or foreign seal. */
async function adoptChain(tx: Tx, chain: string, problem: string) {
  const [existing] = await lockChainHead(tx.db, { chain })
  const { kind: found, problem: sealProblem } = checkSeal(tx.vault, chain, existing ?? null)
  if (found === 'valid' || found === 'changed' || sealProblem !== problem) return null
  const head = existing ?? (await recreateChainHead(tx, chain))
  const { seq: entries, hash } = head
  await updateChainHead(tx.db, { chain, seq: entries, hash, seal: computeSeal(tx.vault, chain, head, entries + 1) })
  await appendAuditEntry(tx, chain, SYSTEM_ACTOR, 'audit.adopted', chain, { found, entries })
  return { found, entries }
}

/**
 * Seals every head of the old key with the current key and returns the chains that stay without a valid seal. Call it
 * before the transaction appends an entry.
 */
export async function resealChainHeads(tx: Tx, old: Vault): Promise<string[]> {
  const unsealed: string[] = []
  for (const chain of await listChains(tx.db)) {
    const [head] = await lockChainHead(tx.db, { chain })
    const seal = head ? resealHead(tx.vault, old, chain, head) : null
    if (head) await updateChainHead(tx.db, { chain, seq: head.seq, hash: head.hash, seal })
    if (checkSeal(tx.vault, chain, head ? { ...head, seal } : null).problem !== null) unsealed.push(chain)
  }
  return unsealed
}

function resealHead(vault: Vault, old: Vault, chain: string, head: SealedHead): string | null {
  const state = checkSeal(old, chain, head)
  if (state.kind === 'foreign') return head.seal
  if (state.kind === 'valid') return computeSeal(vault, chain, head, state.from)
  // With the id of the old key this wrong seal would count as foreign, and an operator could adopt it.
  return head.seal?.replace(old.kid, vault.kid) ?? null
}
