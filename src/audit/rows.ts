import type { SelectQueryBuilder } from 'kysely'
import type { ChainHead } from '../platform/contract/audit/audit-chain.ts'
import { isPostgres } from '../platform/store/dialect.ts'
import { matchColumns } from '../platform/store/newest-page.ts'
import { prepareQuery } from '../platform/store/prepared-query.ts'
import type { Db } from '../platform/store/store.ts'
import type { AuditCheckpointRow, AuditEntryRow, Tables } from '../platform/store/tables.ts'
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

/** Newest first, with one row more than the page. The numbers are found in an index, and then the rows are read. */
export function listAuditEntries(
  db: Db,
  chain: string,
  { action, subject, from, to, limit }: AuditEntryFilter,
): Promise<AuditEntryRow[]> {
  const ofChain = db.selectFrom('audit_entries').where('chain', '=', chain)
  const inRange = ofChain.select('seq').where('seq', '>=', from).where('seq', '<=', to)
  const matching = selectMatching(inRange, action, subject)
  const newest = matching.orderBy('seq', 'desc').limit(limit + 1)
  return ofChain.selectAll().where('seq', 'in', newest).orderBy('seq', 'desc').execute()
}

/** One subject has few entries, so their actions are compared. */
function selectMatching(entries: EntryNumbers, action: string | undefined, subject: string | undefined): EntryNumbers {
  if (subject === undefined) return action === undefined ? entries : entries.where('action', '=', action)
  const ofSubject = entries.where('subject', '=', subject)
  return matchColumns({ action }).reduce((query, filter) => query.where(filter), ofSubject)
}

type EntryNumbers = SelectQueryBuilder<Tables, 'audit_entries', { seq: number }>

/**
 * Chains with `minNewEntries` entries since their last checkpoint, and chains with any new entry whose checkpoint is
 * older than `before`. A checkpoint in the future (signed while the clock was ahead) counts as old.
 */
export const listChainsToSign = prepareQuery<{ minNewEntries: number; before: string; now: string }, ChainToSign>(
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
