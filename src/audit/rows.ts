import { setImmediate } from 'node:timers/promises'
import type { ChainHead } from '../platform/contract/audit/audit-chain.ts'
import { isPostgres } from '../platform/store/dialect.ts'
import { listNewestPage, matchColumns } from '../platform/store/newest-page.ts'
import { prepareBatchedRead, prepareQuery } from '../platform/store/prepared-query.ts'
import type { Db } from '../platform/store/store.ts'
import { ENTRIES_PER_BLOCK, findNextBlock, listBlocksWithTerm, termOf } from './index-rows.ts'
import type { AuditCheckpointRow, AuditEntryRow } from '../platform/store/tables.ts'
import type { SealedHead } from './seal.ts'

/** The row stays locked until the commit, so entries get consecutive numbers and hashes. */
export const lockChainHead = prepareQuery<{ chain: string }, SealedHead>((db, arg) =>
  db
    .selectFrom('audit_heads')
    .select(['seq', 'hash', 'seal'])
    .where('chain', '=', arg('chain'))
    .$if(isPostgres(db), (query) => query.forUpdate()),
)

export const updateChainHead = prepareQuery<{ chain: string; seq: number; hash: string; seal: string | null }>(
  (db, arg) =>
    db
      .updateTable('audit_heads')
      .set({ seq: arg('seq'), hash: arg('hash'), seal: arg('seal') })
      .where('chain', '=', arg('chain'))
      .$castTo<never>(),
)

/** Keeps an existing head. */
export const insertChainHead = prepareQuery<{ chain: string; seq: number; hash: string; seal: string | null }>(
  (db, arg) =>
    db
      .insertInto('audit_heads')
      .values({ chain: arg('chain'), seq: arg('seq'), hash: arg('hash'), seal: arg('seal') })
      .onConflict((conflict) => conflict.doNothing())
      .$castTo<never>(),
)

/** Includes chains without a head. Sorted, so that two transactions that lock all chains cannot deadlock. */
export async function listChains(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('organisations')
    .select('id as chain')
    .union(db.selectFrom('projects').select('id as chain'))
    .union(db.selectFrom('audit_heads').select('chain'))
    .orderBy('chain')
    .execute()
  return rows.map(({ chain }) => chain)
}

/** JavaScript cannot read a larger number exactly, so such a row is not an entry. */
export const MAX_SEQ = Number.MAX_SAFE_INTEGER

export function findLastAuditEntry(db: Db, chain: string): Promise<ChainHead | undefined> {
  return db
    .selectFrom('audit_entries')
    .select(['seq', 'hash'])
    .where('chain', '=', chain)
    .where('seq', '<=', MAX_SEQ)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
}

export const insertAuditEntry = prepareQuery<{
  chain: string
  seq: number
  ts: string
  actor_kind: string
  actor_id: string
  action: string
  subject: string
  data: string
  prev_hash: string
  hash: string
}>((db, arg) =>
  db
    .insertInto('audit_entries')
    .values({
      chain: arg('chain'),
      seq: arg('seq'),
      ts: arg('ts'),
      actor_kind: arg('actor_kind'),
      actor_id: arg('actor_id'),
      action: arg('action'),
      subject: arg('subject'),
      data: arg('data'),
      prev_hash: arg('prev_hash'),
      hash: arg('hash'),
    })
    .$castTo<never>(),
)

export interface AuditEntryFilter {
  action?: string | undefined
  subject?: string | undefined
  from: number
  to: number
  limit: number
}

/** Newest first, with one row more than the page: the newest entries one by one, the others by the index of blocks. */
export async function listAuditEntries(db: Db, chain: string, filter: AuditEntryFilter): Promise<AuditEntryRow[]> {
  const { action, subject, from, to, limit } = filter
  const term = subject === undefined ? action !== undefined && termOf('action', action) : termOf('subject', subject)
  const nextBlock = term ? await findNextBlock(db, chain) : 0
  const indexedTo = nextBlock * ENTRIES_PER_BLOCK - 1
  const newest = await listRange(db, chain, { ...filter, from: Math.max(from, indexedTo + 1) })
  if (!term || newest.length > limit || from > indexedTo) return newest
  const blocks = {
    chain,
    term,
    from: Math.floor(from / ENTRIES_PER_BLOCK),
    to: Math.floor(Math.min(to, indexedTo) / ENTRIES_PER_BLOCK),
  }
  return [...newest, ...(await listByBlocks(db, blocks, { ...filter, limit: limit - newest.length }))]
}

function listRange(db: Db, chain: string, { action, subject, from, to, limit }: AuditEntryFilter) {
  const ofChain = db.selectFrom('audit_entries').selectAll().where('chain', '=', chain)
  const inRange = ofChain.where('seq', '>=', from).where('seq', '<=', to)
  return listNewestPage(db, inRange, { limit }, matchColumns({ action, subject }), ['seq'])
}

/** Reads blocks, newest first. A block has at most 128 entries, so each step is short. */
async function listByBlocks(
  db: Db,
  range: { chain: string; term: string; from: number; to: number },
  filter: AuditEntryFilter,
): Promise<AuditEntryRow[]> {
  const found: AuditEntryRow[] = []
  let size = 1
  for (let to = range.to; ; ) {
    const blocks = await listBlocksWithTerm(db, { ...range, to }, size)
    const entries = await Promise.all(blocks.map((block) => listMatchingOfBlock(db, range.chain, block, filter)))
    found.push(...entries.flat())
    const last = blocks.at(-1)
    if (last === undefined || blocks.length < size || found.length > filter.limit)
      return found.slice(0, filter.limit + 1)
    to = last - 1
    size = Math.min(2 * size, MAX_BLOCKS_PER_STEP)
    await setImmediate()
  }
}

/** About 2 ms on SQLite. */
const MAX_BLOCKS_PER_STEP = 32

function listMatchingOfBlock(db: Db, chain: string, block: number, filter: AuditEntryFilter): Promise<AuditEntryRow[]> {
  const first = block * ENTRIES_PER_BLOCK
  const { action = '', subject = '' } = filter
  const from = Math.max(filter.from, first)
  const to = Math.min(filter.to, first + ENTRIES_PER_BLOCK - 1)
  if (filter.subject === undefined) return listByAction(db, { chain, from, to, action })
  return filter.action === undefined
    ? listBySubject(db, { chain, from, to, subject })
    : listByBoth(db, { chain, from, to, action, subject })
}

interface EntryRange {
  chain: string
  from: number
  to: number
}

const listByAction = prepareBatchedRead<EntryRange & { action: string }, AuditEntryRow>((db, arg) =>
  selectRange(db, arg).where('action', '=', arg('action')),
)

const listBySubject = prepareBatchedRead<EntryRange & { subject: string }, AuditEntryRow>((db, arg) =>
  selectRange(db, arg).where('subject', '=', arg('subject')),
)

const listByBoth = prepareBatchedRead<EntryRange & { action: string; subject: string }, AuditEntryRow>((db, arg) =>
  selectRange(db, arg).where('action', '=', arg('action')).where('subject', '=', arg('subject')),
)

function selectRange(db: Db, arg: <Name extends keyof EntryRange>(name: Name) => EntryRange[Name]) {
  return db
    .selectFrom('audit_entries')
    .selectAll()
    .where('chain', '=', arg('chain'))
    .where('seq', '>=', arg('from'))
    .where('seq', '<=', arg('to'))
    .orderBy('seq', 'desc')
}

/**
 * Chains with `minNewEntries` entries since their last checkpoint, and chains with any new entry whose checkpoint is
 * older than `before`. A checkpoint in the future (signed while the clock was ahead) counts as old.
 */
export const listChainsToSign = prepareBatchedRead<{ minNewEntries: number; before: string; now: string }, ChainToSign>(
  (db, arg) =>
    db
      .selectFrom('audit_heads as h')
      .leftJoin('audit_checkpoints as c', (join) =>
        join.onRef('c.chain', '=', 'h.chain').on('c.seq', '=', (eb) =>
          eb
            .selectFrom('audit_checkpoints as l')
            .whereRef('l.chain', '=', 'h.chain')
            .where('l.seq', '<=', MAX_SEQ)
            .select((of) => of.fn.max('l.seq').as('n')),
        ),
      )
      .select(['h.chain', 'h.seq', 'h.hash', 'h.seal', 'c.seq as checked_seq', 'c.hash as checked_hash'])
      .select(['c.at as checked_at', 'c.kid as checked_kid', 'c.signature as checked_signature'])
      // One unreadable number would make the query fail for all chains.
      .where('h.seq', '<=', MAX_SEQ)
      .where((eb) =>
        eb.or([
          eb.and([eb('c.seq', 'is', null), eb('h.seq', '>', 0)]),
          eb('h.seq', '>=', eb(eb.ref('c.seq'), '+', arg('minNewEntries'))),
          eb.and([
            eb('h.seq', '>', eb.ref('c.seq')),
            eb.or([eb('c.at', '<=', arg('before')), eb('c.at', '>', arg('now'))]),
          ]),
        ]),
      ),
)

/** A head with the newest checkpoint before it. */
export interface ChainToSign extends SealedHead {
  chain: string
  checked_seq: number | null
  checked_hash: string | null
  checked_at: string | null
  checked_kid: string | null
  checked_signature: string | null
}

/** False when another replica has stored this checkpoint already. */
export async function insertAuditCheckpoint(db: Db, checkpoint: AuditCheckpointRow): Promise<boolean> {
  const result = await db
    .insertInto('audit_checkpoints')
    .values(checkpoint)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}
