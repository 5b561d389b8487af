import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import { SYSTEM } from '../ctx/scope.ts'
import type { Vault } from '../ctx/vault.ts'
import { audit, headAnew } from './append.ts'
import { allChains, lockHead, moveHead } from './rows.ts'
import { type HeadRow, readSeal, type SealFault, sealOf } from './seal.ts'
import { verifyStored } from './verify.ts'

export interface Adoption {
  /** What was found at their heads, and their entries then. They are sealed from the next one on, which tells of it. */
  adopted: { chain: string; found: SealFault; entries: number }[]
  /** Left as they are, because more is wrong with them. */
  refused: { chain: string; problem: string }[]
}

/**
 * Takes over the chains as they are that an upgrade or another key has left without a seal of the key in use. Only the
 * operator can tell these from chains whose seal somebody took, so the service never does it by itself. Safe to repeat.
 */
export async function adoptChains(ctx: Ctx): Promise<Adoption> {
  const adoption: Adoption = { adopted: [], refused: [] }
  for (const chain of await allChains(ctx.db)) {
    const { problem } = await verifyStored(ctx, chain)
    if (problem === null) continue
    const adopted = await inTx(ctx, (tx) => adopt(tx, chain, problem))
    if (adopted) adoption.adopted.push({ chain, ...adopted })
    else adoption.refused.push({ chain, problem })
  }
  return adoption
}

/** Null when that problem is not that the key in use has not sealed the head. */
async function adopt(tx: Tx, chain: string, problem: string) {
  const [known] = await lockHead(tx.db, { chain })
  const { kind: found, problem: ofSeal } = readSeal(tx.vault, chain, known ?? null)
  if (found === 'fits' || found === 'changed' || ofSeal !== problem) return null
  const head = known ?? (await headAnew(tx, chain))
  const { seq: entries, hash } = head
  await moveHead(tx.db, { chain, seq: entries, hash, seal: sealOf(tx.vault, chain, head, entries + 1) })
  await audit(tx, chain, SYSTEM, 'audit.adopted', chain, { found, entries })
  return { found, entries }
}

/**
 * Seals anew what the old key sealed. What did not fit then does not fit now, and is named. Call it before anything is
 * added.
 */
export async function resealHeads(tx: Tx, old: Vault): Promise<string[]> {
  const unsealed: string[] = []
  for (const chain of await allChains(tx.db)) {
    const [head] = await lockHead(tx.db, { chain })
    const seal = head ? resealed(tx.vault, old, chain, head) : null
    if (head) await moveHead(tx.db, { chain, seq: head.seq, hash: head.hash, seal })
    if (readSeal(tx.vault, chain, head ? { ...head, seal } : null).problem !== null) unsealed.push(chain)
  }
  return unsealed
}

function resealed(vault: Vault, old: Vault, chain: string, head: HeadRow): string | null {
  const state = readSeal(old, chain, head)
  if (state.kind === 'foreign') return head.seal
  if (state.kind === 'fits') return sealOf(vault, chain, head, state.from)
  // With the name of the old key it would pass for one that an operator may adopt.
  return head.seal?.replace(old.kid, vault.kid) ?? null
}
