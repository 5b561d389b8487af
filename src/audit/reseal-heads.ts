import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../ctx/scope.ts'
import type { Vault } from '../ctx/vault.ts'
import { appendAuditEntry, recreateChainHead } from './append.ts'
import { listChains, lockChainHead, updateChainHead } from './rows.ts'
import { type SealedHead, checkSeal, type SealFault, computeSeal } from './seal.ts'
import { verifyStoredChain } from './verify.ts'

export interface ChainAdoption {
  /** What was found at their heads, and their entries then. They are sealed from the next one on, which tells of it. */
  adopted: { chain: string; found: SealFault; entries: number }[]
  /** Left as they are, because more is wrong with them. */
  refused: { chain: string; problem: string }[]
}

/**
 * Takes over the chains as they are that an upgrade or another key has left without a seal of the key in use. Only the
 * operator can tell these from chains whose seal somebody took, so the service never does it by itself. Safe to repeat.
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

/** Null when that problem is not that the key in use has not sealed the head. */
async function adoptChain(tx: Tx, chain: string, problem: string) {
  const [known] = await lockChainHead(tx.db, { chain })
  const { kind: found, problem: ofSeal } = checkSeal(tx.vault, chain, known ?? null)
  if (found === 'fits' || found === 'changed' || ofSeal !== problem) return null
  const head = known ?? (await recreateChainHead(tx, chain))
  const { seq: entries, hash } = head
  await updateChainHead(tx.db, { chain, seq: entries, hash, seal: computeSeal(tx.vault, chain, head, entries + 1) })
  await appendAuditEntry(tx, chain, SYSTEM_ACTOR, 'audit.adopted', chain, { found, entries })
  return { found, entries }
}

/**
 * Seals anew what the old key sealed. What did not fit then does not fit now, and is named. Call it before anything is
 * added.
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
  if (state.kind === 'fits') return computeSeal(vault, chain, head, state.from)
  // With the name of the old key it would pass for one that an operator may adopt.
  return head.seal?.replace(old.kid, vault.kid) ?? null
}
