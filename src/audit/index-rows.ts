import { type SqlBool, sql } from 'kysely'
import { createBulkInsert } from '../platform/store/dialect.ts'
import { prepareBatchedRead } from '../platform/store/prepared-query.ts'
import type { Db } from '../platform/store/store.ts'
import type { AuditEntryRow } from '../platform/store/tables.ts'

/**
 * Which blocks of a chain have entries with an action or a subject. It is written later and in batches, because indexes of
 * the entries themselves would make every audited change write three more pages.
 */
export const ENTRIES_PER_BLOCK = 128

/** How an action or a subject is named in `audit_blocks`. */
export const termOf = (column: 'action' | 'subject', value: string) => `${column} ${value}`

/** The chains with complete blocks that are not in the index, with the first of them. */
export const listChainsToIndex = prepareBatchedRead<{ size: number }, { chain: string; next_block: number }>(
  (db, arg) =>
    db
      .selectFrom('audit_heads as h')
      .leftJoin('audit_indexes as i', 'i.chain', 'h.chain')
      .select(['h.chain', sql<number>`coalesce(i.next_block, 0)`.as('next_block')])
      .where(sql<SqlBool>`h.seq + 1 >= (coalesce(i.next_block, 0) + 1) * ${arg('size')}`),
)

/** The first block of a chain that is not in the index. */
export async function findNextBlock(db: Db, chain: string): Promise<number> {
  const query = db.selectFrom('audit_indexes').select('next_block').where('chain', '=', chain)
  return (await query.executeTakeFirst())?.next_block ?? 0
}

/** One of concurrent replicas moves the mark; false for the others, which then add nothing. */
export async function updateNextBlock(db: Db, chain: string, from: number, next_block: number): Promise<boolean> {
  const moved = await db
    .insertInto('audit_indexes')
    .values({ chain, next_block })
    .onConflict((conflict) =>
      conflict.column('chain').doUpdateSet({ next_block }).where('audit_indexes.next_block', '=', from),
    )
    .returning('next_block')
    .executeTakeFirst()
  return moved !== undefined
}

export type BlockEntry = Pick<AuditEntryRow, 'seq' | 'action' | 'subject'>

/** The entries of some blocks. */
export function listBlockEntries(db: Db, chain: string, from: number, to: number): Promise<BlockEntry[]> {
  return db
    .selectFrom('audit_entries')
    .select(['seq', 'action', 'subject'])
    .where('chain', '=', chain)
    .where('seq', '>=', from * ENTRIES_PER_BLOCK)
    .where('seq', '<', to * ENTRIES_PER_BLOCK)
    .orderBy('seq')
    .execute()
}

export const insertAuditBlocks = createBulkInsert('audit_blocks', ['chain', 'term', 'block'])

/** The newest blocks in a range that have a term. */
export async function listBlocksWithTerm(
  db: Db,
  { chain, term, from, to }: { chain: string; term: string; from: number; to: number },
  limit: number,
): Promise<number[]> {
  const rows = await db
    .selectFrom('audit_blocks')
    .select('block')
    .where('chain', '=', chain)
    .where('term', '=', term)
    .where('block', '>=', from)
    .where('block', '<=', to)
    .orderBy('block', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ block }) => block)
}
