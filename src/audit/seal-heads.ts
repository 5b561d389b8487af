import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { Vault } from '../ctx/vault.ts'
import { allHeads, lockHead, moveHead } from './rows.ts'
import { type HeadRow, readSeal, sealOf } from './seal.ts'

/**
 * Seals the heads of a store from before there were seals. Where one is sealed already all are, so a single head without
 * a seal has lost it, and stays so.
 */
export async function sealOldHeads(ctx: Ctx): Promise<void> {
  const heads = await allHeads(ctx.db)
  if (heads.length === 0 || heads.some(({ seal }) => seal !== null)) return
  await inTx(ctx, async (tx) => {
    for (const { chain } of heads) await sealUnsealed(tx, chain)
  })
  ctx.world.log.warn({ heads: heads.length }, 'audit heads had no seal and were sealed as they are')
}

async function sealUnsealed(tx: Tx, chain: string): Promise<void> {
  const [head] = await lockHead(tx.db, { chain })
  // Another replica that started with this one may have been faster.
  if (!head || head.seal !== null) return
  const { seq, hash } = head
  await moveHead(tx.db, { chain, seq, hash, seal: sealOf(tx.vault, chain, head, seq + 1) })
}

/** Seals anew what the old key sealed. What did not fit then does not fit now. Call it before anything is added. */
export async function resealHeads(tx: Tx, old: Vault): Promise<void> {
  for (const { chain } of await allHeads(tx.db)) {
    const [head] = await lockHead(tx.db, { chain })
    if (!head) continue
    const seal = resealed(tx.vault, old, chain, head)
    await moveHead(tx.db, { chain, seq: head.seq, hash: head.hash, seal })
  }
}

function resealed(vault: Vault, old: Vault, chain: string, head: HeadRow): string | null {
  const state = readSeal(old, chain, head)
  if (state.kind === 'foreign') return head.seal
  if (state.kind === 'fits') return sealOf(vault, chain, head, state.from)
  // With the name of the old key it would pass for one that nobody can judge.
  return head.seal?.replace(old.kid, vault.kid) ?? null
}
