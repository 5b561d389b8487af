import {
  type ChainHead,
  type Checkpoint,
  checkpointForgery,
  GENESIS_HASH,
  toTrustedKeys,
  verifyChain,
} from '../platform/contract/audit/audit-chain.ts'
import { type Ctx, inTx } from '../platform/ctx/ctx.ts'
import { toIsoTime } from '../platform/ctx/world.ts'
import { readSealedPages } from './chain-pages.ts'
import { type ChainToSign, insertAuditCheckpoint, listChainsToSign } from './rows.ts'
import { checkSeal } from './seal.ts'
import { auditPublicKey, signCheckpoint } from './signing.ts'

const MIN_NEW_ENTRIES = 100
const MAX_CHECKPOINT_AGE_MS = 5 * 60_000

/**
 * Signs the heads of the chains that grew. Every replica runs this; of two signatures of one head, one is stored. Each
 * checkpoint is also logged: kept outside the database, the log reveals a truncation that removed the checkpoint rows.
 */
export async function signDueCheckpoints(ctx: Ctx, loggedFaults: LoggedFaults = new Map()): Promise<number> {
  const now = ctx.world.clock.now()
  const due = await listChainsToSign(ctx.db, {
    minNewEntries: MIN_NEW_ENTRIES,
    before: toIsoTime(now - MAX_CHECKPOINT_AGE_MS),
    now: toIsoTime(now),
  })
  let signed = 0
  for (const chain of due) if (await signCheckpointIfValid(ctx, chain, loggedFaults)) signed++
  return signed
}

/** The last logged fault of each broken chain, so that a chain that stays broken is logged once. */
type LoggedFaults = Map<string, string>

async function signCheckpointIfValid(ctx: Ctx, due: ChainToSign, loggedFaults: LoggedFaults): Promise<boolean> {
  const { chain, seq, hash } = due
  const problem = await findChainFault(ctx, due)
  if (problem) {
    const isNew = loggedFaults.get(chain) !== problem
    if (isNew) ctx.world.log.error({ chain, seq, problem }, 'audit chain is broken: no checkpoint was signed')
    loggedFaults.set(chain, problem)
    return false
  }
  loggedFaults.delete(chain)
  const signed = signCheckpoint(ctx, chain, { seq, hash })
  const isStored = await inTx(ctx, (tx) => insertAuditCheckpoint(tx.db, signed))
  if (isStored) ctx.world.log.debug({ checkpoint: signed }, 'audit checkpoint')
  return isStored
}

/** A signature vouches for all entries since the last checkpoint, so these are verified first. */
async function findChainFault(ctx: Ctx, due: ChainToSign): Promise<string | null> {
  const { chain, seq, hash } = due
  const seal = checkSeal(ctx.vault, chain, due)
  if (seal.problem !== null) return seal.problem
  const base = findVerifiedBase(ctx, due)
  if ('problem' in base) return base.problem
  const pages = readSealedPages(ctx.store.lists, { chain, after: base.seq, upTo: seq, checkpointsUpTo: 0 })
  const { problem } = await verifyChain(pages, { chain, start: base, head: { seq, hash }, trusted: new Map() })
  return problem
}

/** Where verification starts: at the last checkpoint, or at the first entry if its key is unknown. */
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
  const exists = seq !== null && hash !== null && at !== null && kid !== null && signature !== null
  return exists ? { chain, seq, hash, at, kid, signature } : null
}
