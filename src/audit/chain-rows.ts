import { sql } from 'kysely'
import { isPostgres } from '../store/dialect.ts'
import { prepareQuery } from '../store/prepared-query.ts'
import type { Db } from '../store/store.ts'
import type { AuditCheckpointRow, AuditEntryRow } from '../store/tables.ts'
import { MAX_SEQ } from './rows.ts'

/** In the order of the chain. */
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

/** Between fields: a character that no field has, unless somebody put it there. */
export const FIELD_SEPARATOR = '\x1f'

export interface JoinedEntries {
  /** The number of rows that are of their kind, so that a field that holds the separator cannot pass for two. */
  n: number
  /** What stands between quotes in `text`, all of it together: escapes are not made, so it must not need any. */
  quoted: string | null
  text: string | null
}

/**
 * A page of entries as they are checked (`SealedEntry`), in one text: columns, and the joining of them in JavaScript, are
 * most of the cost of a million entries. `quoted` leaves out the hash before: it is compared with that of the entry
 * before. The texts are joined in the order of the inner query; if a store did it otherwise, the chain would not hold.
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

/** SQLite also keeps bytes in a column of texts, and joins them as if they were one. They sort behind all texts. */
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
  /** The number of a row that no chain has. Text: a JavaScript number would pass for another. */
  stray_entry: string | null
  stray_checkpoint: string | null
}

const chainBounds = prepareQuery<{ chain: string }, ChainBounds>((db, arg) => {
  const of = (what: string, table: string, which: string) =>
    sql`(select ${sql.raw(what)} from ${sql.table(table)} where chain = ${arg('chain')} and ${sql.raw(which)})`
  const head = (column: string) => of(column, 'audit_heads', `seq between 0 and ${MAX_SEQ}`)
  const last = (table: string) => of('max(seq)', table, `seq between 1 and ${MAX_SEQ}`)
  // Two looks at the index; with `or` it would be a walk through the chain.
  const stray = (table: string) =>
    sql`coalesce(${of('cast(min(seq) as text)', table, 'seq < 1')},
      ${of('cast(max(seq) as text)', table, `seq > ${MAX_SEQ}`)})`
  return db.selectNoFrom([
    head('seq').$castTo<number | null>().as('head_seq'),
    head('hash').$castTo<string | null>().as('head_hash'),
    head('seal').$castTo<string | null>().as('head_seal'),
    last('audit_entries').$castTo<number | null>().as('last_entry'),
    last('audit_checkpoints').$castTo<number | null>().as('last_checkpoint'),
    stray('audit_entries').$castTo<string | null>().as('stray_entry'),
    stray('audit_checkpoints').$castTo<string | null>().as('stray_checkpoint'),
  ])
})

/** Where everything of a chain begins and ends, seen in one moment: what is appended later is beyond it. */
export async function findChainBounds(db: Db, chain: string): Promise<ChainBounds> {
  const [row] = await chainBounds(db, { chain })
  if (!row) throw new Error(`the ends of chain ${chain} cannot be read`)
  return row
}
