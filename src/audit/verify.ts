import {
  type ChainHead,
  type ChainVerdict,
  toTrustedKeys,
  verifyChain,
} from '../platform/contract/audit/audit-chain.ts'
import type { Ctx } from '../platform/ctx/ctx.ts'
import { type ChainRange, readSealedPages } from './chain-pages.ts'
import { type ChainBounds, findChainBounds } from './chain-rows.ts'
import { checkSeal, type SealState } from './seal.ts'
import { auditPublicKey } from './signing.ts'

export interface StoredChainVerdict extends ChainVerdict {
  /**
   * The first entry since which every head was sealed with the current key: 1, unless the chain was adopted or is older
   * than the key. Null when the current key did not seal the head.
   */
  sealed_from: number | null
}

/** Recomputes the whole stored chain and compares it with its head, its seal and its checkpoints. */
export async function verifyStoredChain(ctx: Ctx, chain: string): Promise<StoredChainVerdict> {
  const bounds = await findChainBounds(ctx.db, chain)
  const verdict = await verifyEntries(ctx, chain, bounds)
  const seal = checkHeadSeal(ctx, chain, bounds)
  const sealed_from = seal.kind === 'valid' ? seal.from : null
  const outOfRange = findOutOfRangeRow(bounds)
  if (verdict.ok && outOfRange) {
    return { ...verdict, ok: false, first_bad_seq: verdict.entries + 1, problem: outOfRange, sealed_from }
  }
  if (!verdict.ok || seal.problem === null) return { ...verdict, sealed_from }
  // Every entry after the last signed checkpoint may have been changed.
  return { ...verdict, ok: false, first_bad_seq: (verdict.anchored_to ?? 0) + 1, problem: seal.problem, sealed_from }
}

function verifyEntries(ctx: Ctx, chain: string, bounds: ChainBounds): Promise<ChainVerdict> {
  const pages = readSealedPages(ctx.db, wholeChainRange(chain, bounds))
  const head = toChainHead(bounds)
  return verifyChain(pages, { chain, ...(head && { head }), trusted: toTrustedKeys([auditPublicKey(ctx)]) })
}

/** Reports rows that were inserted with numbers outside the range of the chain. */
export function findOutOfRangeRow({ out_of_range_entry, out_of_range_checkpoint }: ChainBounds): string | null {
  if (out_of_range_entry !== null) return `entry ${out_of_range_entry} is outside the chain`
  return out_of_range_checkpoint === null
    ? null
    : `a checkpoint is for entry ${out_of_range_checkpoint}, outside the chain`
}

/** Includes entries after the head, which verification reports. */
export function wholeChainRange(chain: string, bounds: ChainBounds): ChainRange {
  return {
    chain,
    after: 0,
    upTo: Math.max(bounds.head_seq ?? 0, bounds.last_entry ?? 0),
    checkpointsUpTo: bounds.last_checkpoint ?? 0,
  }
}

export function checkHeadSeal(ctx: Ctx, chain: string, bounds: ChainBounds): SealState {
  const head = toChainHead(bounds)
  return checkSeal(ctx.vault, chain, head && { ...head, seal: bounds.head_seal })
}

export function toChainHead({ head_seq: seq, head_hash: hash }: ChainBounds): ChainHead | null {
  return seq === null || hash === null ? null : { seq, hash }
}
