import { GENESIS, verifyChain } from '../base/audit-chain.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import { isoTime } from '../ctx/world.ts'
import { sealedPages } from './pages.ts'
import { type ChainToCheck, chainsToCheck, insertCheckpoint } from './rows.ts'
import { signHead } from './signing.ts'

const GROWN_BY = 100
const AT_LEAST_EVERY_MS = 5 * 60_000

/**
 * Signs the heads of the chains that grew. Run by every replica; of two that sign the same head, one is kept. Each
 * checkpoint is also a log line: kept elsewhere, it tells of a cut that took the rows of the checkpoints too.
 */
export async function checkpointDue(ctx: Ctx): Promise<number> {
  const before = isoTime(ctx.world.clock.now() - AT_LEAST_EVERY_MS)
  let signed = 0
  for (const due of await chainsToCheck(ctx.db, GROWN_BY, before)) if (await checkpoint(ctx, due)) signed++
  return signed
}

async function checkpoint(ctx: Ctx, due: ChainToCheck): Promise<boolean> {
  const { chain, seq, hash } = due
  const { problem } = await verifyGrowth(ctx, due)
  if (problem) {
    ctx.world.log.error({ chain, seq, problem }, 'audit chain is broken: nothing was signed')
    return false
  }
  const signed = signHead(ctx, chain, { seq, hash })
  const kept = await inTx(ctx, (tx) => insertCheckpoint(tx.db, signed))
  if (kept) ctx.world.log.info({ checkpoint: signed }, 'audit checkpoint')
  return kept
}

/** A signature says that the head follows from what was signed before; so it is looked at first. */
function verifyGrowth(ctx: Ctx, { chain, seq, hash, checked_seq, checked_hash }: ChainToCheck) {
  const from = { seq: checked_seq ?? 0, hash: checked_hash ?? GENESIS }
  const pages = sealedPages(ctx.db, { chain, after: from.seq, upTo: seq, checkpointsUpTo: 0 })
  return verifyChain(pages, { chain, from, head: { seq, hash }, trusted: new Map() })
}
