import { sql } from 'kysely'
import { isPostgres } from '../platform/store/dialect.ts'
import { prepareQuery } from '../platform/store/prepared-query.ts'
import type { Db } from '../platform/store/store.ts'
import type { AuditCheckpointRow, AuditEntryRow } from '../platform/store/tables.ts'
import { MAX_SEQ } from './rows.ts'

/** Ordered by number. */
export const listChainEntries = prepareQuery<
  { chain: string; after: number; upTo: number; limit: number },
  Omit<AuditEntryRow, 'chain'>
>((db, arg) =>
  db
    .selectFrom('audit_entries')
    .select(['seq', 'ts', 'actor_kind', 'actor_id', 'action', 'subject', 'data', 'prev_hash', 'hash'])
    .where('chain', '=', arg('chain'))
    .where('seq', '>', arg('after'))
    .where('seq', '<=', arg('upTo'))
    .orderBy('seq')
    .limit(arg('limit')),
)

/** Separates the joined fields. No field contains it unless it was changed in the database. */
export const FIELD_SEPARATOR = '\x1f'

export interface JoinedEntries {
  /** How many rows have columns of the right type. A field that contains the separator makes the field count differ. */
  n: number
  /** All quoted values of `text` joined: the query escapes nothing, so they must not need escapes. */
  quoted: string | null
  text: string | null
}

/**
 * A page of entries as verification hashes them (`SealedEntry`), joined into one text by the database: reading columns
 * and joining them in JavaScript would be most of the cost of verifying a million entries. `quoted` omits `prev_hash`,
 * which is compared with the entry before. The order is that of the inner query; another order would fail verification.
 */
export const findJoinedEntries = prepareQuery<{ chain: string; after: number; to: number }, JoinedEntries>((db, arg) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('audit_entries')
        .selectAll()
        .where('chain', '=', arg('chain'))
        .where('seq', '>', arg('after'))
        .where('seq', '<=', arg('to'))
        .orderBy('seq')
        .as('e'),
    )
    .select((eb) => [
      (isPostgres(db) ? eb.fn.countAll<number>() : COUNT_WELL_TYPED_ROWS).as('n'),
      sql<string | null>`string_agg(concat(action, actor_id, actor_kind, subject, ts), '')`.as('quoted'),
      sql<string | null>`string_agg(concat(prev_hash, ${SEPARATOR_LITERAL}, hash, ${SEPARATOR_LITERAL},
        '{"action":"', action, '","actor":{"id":"', actor_id, '","kind":"', actor_kind, '"},"data":', data,
        ',"prev_hash":"', prev_hash, '","seq":', seq, ',"subject":"', subject, '","ts":"', ts, '"}'), ${SEPARATOR_LITERAL})`.as(
        'text',
      ),
    ]),
)

const SEPARATOR_LITERAL = sql.lit(FIELD_SEPARATOR)

/** SQLite allows blobs in text columns and joins them like text. A blob sorts after every text. */
const COUNT_WELL_TYPED_ROWS = sql<number>`count(*) filter (where typeof(seq) = 'integer'
  and max(ts, actor_kind, actor_id, action, subject, data, prev_hash, hash) < x'')`

export const listCheckpoints = prepareQuery<{ chain: string; after: number; upTo: number }, AuditCheckpointRow>(
  (db, arg) =>
    db
      .selectFrom('audit_checkpoints')
      .selectAll()
      .where('chain', '=', arg('chain'))
      .where('seq', '>', arg('after'))
      .where('seq', '<=', arg('upTo'))
      .orderBy('seq'),
)

export interface ChainBounds {
  head_seq: number | null
  head_hash: string | null
  head_seal: string | null
  last_entry: number | null
  last_checkpoint: number | null
  /** A row number outside 1 to MAX_SEQ. Text, because a JavaScript number would lose digits. */
  out_of_range_entry: string | null
  out_of_range_checkpoint: string | null
}

const chainBounds = prepareQuery<{ chain: string }, ChainBounds>((db, arg) => {
  const select = (expression: string, table: string, condition: string) =>
    sql`(select ${sql.raw(expression)} from ${sql.table(table)} where chain = ${arg('chain')} and ${sql.raw(condition)})`
  const head = (column: string) => select(column, 'audit_heads', `seq between 0 and ${MAX_SEQ}`)
  const last = (table: string) => select('max(seq)', table, `seq between 1 and ${MAX_SEQ}`)
  // Two index lookups; one condition with `or` would scan the whole chain.
  const outOfRange = (table: string) =>
    sql`coalesce(${select('cast(min(seq) as text)', table, 'seq < 1')},
      ${select('cast(max(seq) as text)', table, `seq > ${MAX_SEQ}`)})`
  return db.selectNoFrom([
    head('seq').$castTo<number | null>().as('head_seq'),
    head('hash').$castTo<string | null>().as('head_hash'),
    head('seal').$castTo<string | null>().as('head_seal'),
    last('audit_entries').$castTo<number | null>().as('last_entry'),
    last('audit_checkpoints').$castTo<number | null>().as('last_checkpoint'),
    outOfRange('audit_entries').$castTo<string | null>().as('out_of_range_entry'),
    outOfRange('audit_checkpoints').$castTo<string | null>().as('out_of_range_checkpoint'),
  ])
})

/** Reads all bounds in one statement, so that entries appended later are outside them. */
export async function findChainBounds(db: Db, chain: string): Promise<ChainBounds> {
  const [row] = await chainBounds(db, { chain })
  if (!row) throw new Error(`the bounds of audit chain ${chain} cannot be read`)
  return row
}
