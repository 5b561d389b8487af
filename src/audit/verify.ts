import { type ChainHead, trustedKeys, type Verdict, verifyChain } from '../base/audit-chain.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { sealedPages, type Stretch } from './pages.ts'
import { type Ends, endsOf } from './rows.ts'
import { publicKey } from './signing.ts'

/** Recomputes a project's whole chain as it is stored, and holds it against its head and its checkpoints. */
export async function verifyStored(ctx: Ctx, chain: string): Promise<Verdict> {
  const ends = await endsOf(ctx.db, chain)
  const pages = sealedPages(ctx.db, wholeChain(chain, ends))
  return verifyChain(pages, { chain, head: headOf(ends), trusted: trustedKeys([publicKey(ctx)]) })
}

/** All that was there when the ends were read, also what does not belong: entries before 1 or behind the head. */
export function wholeChain(chain: string, ends: Ends): Stretch {
  return {
    chain,
    after: Math.min(1, ends.first_entry ?? 1, ends.first_checkpoint ?? 1) - 1,
    upTo: Math.max(ends.head_seq ?? 0, ends.last_entry ?? 0),
    checkpointsUpTo: ends.last_checkpoint ?? 0,
  }
}

export function headOf({ head_seq: seq, head_hash: hash }: Ends): ChainHead | null {
  return seq === null || hash === null ? null : { seq, hash }
}
