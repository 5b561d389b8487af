import {
  type ChainHead,
  type Checkpoint,
  checkpointForgery,
  GENESIS_HASH,
  toTrustedKeys,
  verifyChain,
} from '../contract/audit-chain.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import { toIsoTime } from '../ctx/world.ts'
import { readSealedPages } from './chain-pages.ts'
import { type ChainToSign, listChainsToSign, insertAuditCheckpoint } from './rows.ts'
import { checkSeal } from './seal.ts'
import { auditPublicKey, signCheckpoint } from './signing.ts'

const MIN_NEW_ENTRIES = 100
const MAX_CHECKPOINT_AGE_MS = 5 * 60_000

/**
 * Signs the heads of the chains that grew. Run by every replica; of two that sign the same head, one is kept. Each
 * checkpoint is also a log line: kept elsewhere, it tells of a cut that took the rows of the checkpoints too.
 */
export async function signDueCheckpoints(ctx: Ctx, told: LoggedFaults = new Map()): Promise<number> {
  const now = ctx.world.clock.now()
  const due = await listChainsToSign(ctx.db, MIN_NEW_ENTRIES, toIsoTime(now - MAX_CHECKPOINT_AGE_MS), toIsoTime(now))
  let signed = 0
  for (const chain of due) if (await signCheckpointIfValid(ctx, chain, told)) signed++
  return signed
}

/** What was told of each chain that is broken: it stays due, and is found at every look. */
type LoggedFaults = Map<string, string>

async function signCheckpointIfValid(ctx: Ctx, due: ChainToSign, told: LoggedFaults): Promise<boolean> {
  const { chain, seq, hash } = due
  const problem = await findChainFault(ctx, due)
  if (problem) {
    const isNew = told.get(chain) !== problem
    if (isNew) ctx.world.log.error({ chain, seq, problem }, 'audit chain is broken: nothing was signed')
    told.set(chain, problem)
    return false
  }
  told.delete(chain)
  const signed = signCheckpoint(ctx, chain, { seq, hash })
  const kept = await inTx(ctx, (tx) => insertAuditCheckpoint(tx.db, signed))
  if (kept) ctx.world.log.info({ checkpoint: signed }, 'audit checkpoint')
  return kept
}

/** A signature says that the head follows from what was signed before; so all of that is looked at first. */
async function findChainFault(ctx: Ctx, due: ChainToSign): Promise<string | null> {
  const { chain, seq, hash } = due
  const seal = checkSeal(ctx.vault, chain, due)
  if (seal.problem !== null) return seal.problem
  const base = findVerifiedBase(ctx, due)
  if ('problem' in base) return base.problem
  const pages = readSealedPages(ctx.db, { chain, after: base.seq, upTo: seq, checkpointsUpTo: 0 })
  const { problem } = await verifyChain(pages, { chain, start: base, head: { seq, hash }, trusted: new Map() })
  return problem
}

/** Where to begin: at the last checkpoint if its signature is good, at the first entry if nobody can say so. */
function findVerifiedBase(ctx: Ctx, due: ChainToSign): ChainHead | { problem: string } {
  const last = toLastCheckpoint(due)
  const key = last && toTrustedKeys([auditPublicKey(ctx)]).get(last.kid)
  if (!last || !key) return { seq: 0, hash: GENESIS_HASH }
  const problem = checkpointForgery(last, key)
  return problem ? { problem } : last
}

function toLastCheckpoint(due: ChainToSign): Checkpoint | null {
  const { chain, checked_seq: seq, checked_hash: hash, checked_at: at } = due
  const { checked_kid: kid, checked_signature: signature } = due
  const there = seq !== null && hash !== null && at !== null && kid !== null && signature !== null
  return there ? { chain, seq, hash, at, kid, signature } : null
}
