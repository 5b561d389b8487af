import { type ChainHead, toTrustedKeys, type ChainVerdict, verifyChain } from '../contract/audit-chain.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { readSealedPages, type ChainRange } from './chain-pages.ts'
import { checkSeal, type SealState } from './seal.ts'
import { auditPublicKey } from './signing.ts'
import { type ChainBounds, findChainBounds } from './chain-rows.ts'

export interface StoredChainVerdict extends ChainVerdict {
  /**
   * The first entry since which the head was sealed without a break, with the key in use: 1, unless the chain is older
   * than seals or than the key. Null when the key in use did not seal it.
   */
  sealed_from: number | null
}

/** Recomputes a project's whole chain as it is stored, and holds it against its head, its seal and its checkpoints. */
export async function verifyStoredChain(ctx: Ctx, chain: string): Promise<StoredChainVerdict> {
  const ends = await findChainBounds(ctx.db, chain)
  const verdict = await verifyEntries(ctx, chain, ends)
  const seal = checkHeadSeal(ctx, chain, ends)
  const sealed_from = seal.kind === 'fits' ? seal.from : null
  const stray = findOutOfRangeRow(ends)
  if (verdict.ok && stray) {
    return { ...verdict, ok: false, first_bad_seq: verdict.entries + 1, problem: stray, sealed_from }
  }
  if (!verdict.ok || seal.problem === null) return { ...verdict, sealed_from }
  // Which entry it was cannot be told: any that no signature vouches for.
  return { ...verdict, ok: false, first_bad_seq: (verdict.anchored_to ?? 0) + 1, problem: seal.problem, sealed_from }
}

function verifyEntries(ctx: Ctx, chain: string, ends: ChainBounds): Promise<ChainVerdict> {
  const pages = readSealedPages(ctx.db, wholeChainRange(chain, ends))
  const head = toChainHead(ends)
  return verifyChain(pages, { chain, ...(head && { head }), trusted: toTrustedKeys([auditPublicKey(ctx)]) })
}

/** What somebody put beside the chain under a number that no walk comes to. */
export function findOutOfRangeRow({ stray_entry, stray_checkpoint }: ChainBounds): string | null {
  if (stray_entry !== null) return `entry ${stray_entry} stands outside the chain`
  return stray_checkpoint === null ? null : `a checkpoint tells of entry ${stray_checkpoint}, outside the chain`
}

/** All that was there when the ends were read, also what does not belong: entries behind the head. */
export function wholeChainRange(chain: string, ends: ChainBounds): ChainRange {
  return {
    chain,
    after: 0,
    upTo: Math.max(ends.head_seq ?? 0, ends.last_entry ?? 0),
    checkpointsUpTo: ends.last_checkpoint ?? 0,
  }
}

export function checkHeadSeal(ctx: Ctx, chain: string, ends: ChainBounds): SealState {
  const head = toChainHead(ends)
  return checkSeal(ctx.vault, chain, head && { ...head, seal: ends.head_seal })
}

export function toChainHead({ head_seq: seq, head_hash: hash }: ChainBounds): ChainHead | null {
  return seq === null || hash === null ? null : { seq, hash }
}
