import { type ChainHead, trustedKeys, type Verdict, verifyChain } from '../base/audit-chain.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { sealedPages, type Stretch } from './pages.ts'
import { readSeal, type SealState } from './seal.ts'
import { publicKey } from './signing.ts'
import { type Ends, endsOf } from './walk-rows.ts'

export interface StoredVerdict extends Verdict {
  /**
   * The first entry since which the head was sealed without a break, with the key in use: 1, unless the chain is older
   * than seals or than the key. Null when the key in use did not seal it.
   */
  sealed_from: number | null
}

/** Recomputes a project's whole chain as it is stored, and holds it against its head, its seal and its checkpoints. */
export async function verifyStored(ctx: Ctx, chain: string): Promise<StoredVerdict> {
  const ends = await endsOf(ctx.db, chain)
  const verdict = await walk(ctx, chain, ends)
  const seal = sealAt(ctx, chain, ends)
  const sealed_from = seal.kind === 'fits' ? seal.from : null
  const stray = strayIn(ends)
  if (verdict.ok && stray) {
    return { ...verdict, ok: false, first_bad_seq: verdict.entries + 1, problem: stray, sealed_from }
  }
  if (!verdict.ok || seal.problem === null) return { ...verdict, sealed_from }
  // Which entry it was cannot be told: any that no signature vouches for.
  return { ...verdict, ok: false, first_bad_seq: (verdict.anchored_to ?? 0) + 1, problem: seal.problem, sealed_from }
}

function walk(ctx: Ctx, chain: string, ends: Ends): Promise<Verdict> {
  const pages = sealedPages(ctx.db, wholeChain(chain, ends))
  const head = headOf(ends)
  return verifyChain(pages, { chain, ...(head && { head }), trusted: trustedKeys([publicKey(ctx)]) })
}

/** What somebody put beside the chain under a number that no walk comes to. */
export function strayIn({ stray_entry, stray_checkpoint }: Ends): string | null {
  if (stray_entry !== null) return `entry ${stray_entry} stands outside the chain`
  return stray_checkpoint === null ? null : `a checkpoint tells of entry ${stray_checkpoint}, outside the chain`
}

/** All that was there when the ends were read, also what does not belong: entries behind the head. */
export function wholeChain(chain: string, ends: Ends): Stretch {
  return {
    chain,
    after: 0,
    upTo: Math.max(ends.head_seq ?? 0, ends.last_entry ?? 0),
    checkpointsUpTo: ends.last_checkpoint ?? 0,
  }
}

export function sealAt(ctx: Ctx, chain: string, ends: Ends): SealState {
  const head = headOf(ends)
  return readSeal(ctx.vault, chain, head && { ...head, seal: ends.head_seal })
}

export function headOf({ head_seq: seq, head_hash: hash }: Ends): ChainHead | null {
  return seq === null || hash === null ? null : { seq, hash }
}
