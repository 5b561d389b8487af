import { type ChainHead, type Checkpoint, forgery, GENESIS, trustedKeys, verifyChain } from '../base/audit-chain.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import { isoTime } from '../ctx/world.ts'
import { sealedPages } from './pages.ts'
import { type ChainToCheck, chainsToCheck, insertCheckpoint } from './rows.ts'
import { readSeal } from './seal.ts'
import { publicKey, signHead } from './signing.ts'

const GROWN_BY = 100
const AT_LEAST_EVERY_MS = 5 * 60_000

/**
 * Signs the heads of the chains that grew. Run by every replica; of two that sign the same head, one is kept. Each
 * checkpoint is also a log line: kept elsewhere, it tells of a cut that took the rows of the checkpoints too.
 */
export async function checkpointDue(ctx: Ctx, told: ToldFaults = new Map()): Promise<number> {
  const now = ctx.world.clock.now()
  const due = await chainsToCheck(ctx.db, GROWN_BY, isoTime(now - AT_LEAST_EVERY_MS), isoTime(now))
  let signed = 0
  for (const chain of due) if (await checkpoint(ctx, chain, told)) signed++
  return signed
}

/** What was told of each chain that is broken: it stays due, and is found at every look. */
type ToldFaults = Map<string, string>

async function checkpoint(ctx: Ctx, due: ChainToCheck, told: ToldFaults): Promise<boolean> {
  const { chain, seq, hash } = due
  const problem = await faultOf(ctx, due)
  if (problem) {
    const isNew = told.get(chain) !== problem
    if (isNew) ctx.world.log.error({ chain, seq, problem }, 'audit chain is broken: nothing was signed')
    told.set(chain, problem)
    return false
  }
  told.delete(chain)
  const signed = signHead(ctx, chain, { seq, hash })
  const kept = await inTx(ctx, (tx) => insertCheckpoint(tx.db, signed))
  if (kept) ctx.world.log.info({ checkpoint: signed }, 'audit checkpoint')
  return kept
}

/** A signature says that the head follows from what was signed before; so all of that is looked at first. */
async function faultOf(ctx: Ctx, due: ChainToCheck): Promise<string | null> {
  const { chain, seq, hash } = due
  const seal = readSeal(ctx.vault, chain, due)
  if (seal.problem !== null) return seal.problem
  const base = baseOf(ctx, due)
  if ('problem' in base) return base.problem
  const pages = sealedPages(ctx.db, { chain, after: base.seq, upTo: seq, checkpointsUpTo: 0 })
  const { problem } = await verifyChain(pages, { chain, from: base, head: { seq, hash }, trusted: new Map() })
  return problem
}

/** Where to begin: at the last checkpoint if its signature is good, at the first entry if nobody can say so. */
function baseOf(ctx: Ctx, due: ChainToCheck): ChainHead | { problem: string } {
  const last = lastCheckpoint(due)
  const key = last && trustedKeys([publicKey(ctx)]).get(last.kid)
  if (!last || !key) return { seq: 0, hash: GENESIS }
  const problem = forgery(last, key)
  return problem ? { problem } : last
}

function lastCheckpoint(due: ChainToCheck): Checkpoint | null {
  const { chain, checked_seq: seq, checked_hash: hash, checked_at: at } = due
  const { checked_kid: kid, checked_signature: signature } = due
  const there = seq !== null && hash !== null && at !== null && kid !== null && signature !== null
  return there ? { chain, seq, hash, at, kid, signature } : null
}
