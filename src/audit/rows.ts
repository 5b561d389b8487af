import { sql } from 'kysely'
import type { ChainHead } from '../base/audit-chain.ts'
import { isPostgres } from '../store/dialect.ts'
import { prepared } from '../store/prepared.ts'
import type { Db } from '../store/store.ts'
import type { AuditCheckpoints, AuditEntries } from '../store/tables.ts'
import type { HeadRow } from './seal.ts'

/** The row stays locked until the commit, so numbers and hashes follow one another. */
export const lockHead = prepared<{ chain: string }, HeadRow>((db, arg) =>
  db
    .selectFrom('audit_heads')
    .select(['seq', 'hash', 'seal'])
    .where('chain', '=', arg('chain'))
    .$if(isPostgres(db), (query) => query.forUpdate()),
)

export const moveHead = prepared<{ chain: string; seq: number; hash: string; seal: string | null }>((db, arg) =>
  db
    .updateTable('audit_heads')
    .set({ seq: arg('seq'), hash: arg('hash'), seal: arg('seal') })
    .where('chain', '=', arg('chain'))
    .$castTo<never>(),
)

/** Leaves a head alone that is there already. */
export const insertHead = prepared<{ chain: string; seq: number; hash: string; seal: string | null }>((db, arg) =>
  db
    .insertInto('audit_heads')
    .values({ chain: arg('chain'), seq: arg('seq'), hash: arg('hash'), seal: arg('seal') })
    .onConflict((conflict) => conflict.doNothing())
    .$castTo<never>(),
)

/** Also those that have lost their head. In one order, so that two who lock them all do not wait for each other. */
export async function allChains(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('organisations')
    .select('id as chain')
    .union(db.selectFrom('projects').select('id as chain'))
    .union(db.selectFrom('audit_heads').select('chain'))
    .orderBy('chain')
    .execute()
  return rows.map(({ chain }) => chain)
}

export function lastEntry(db: Db, chain: string): Promise<ChainHead | undefined> {
  return db
    .selectFrom('audit_entries')
    .select(['seq', 'hash'])
    .where('chain', '=', chain)
    .where('seq', '<=', LAST_NUMBER)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
}

export const insertEntry = prepared<{
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

export interface EntryFilter {
  action?: string | undefined
  subject?: string | undefined
  from: number
  to: number
  limit: number
}

/** Newest first, one more than a page. */
export function listEntries(db: Db, chain: string, filter: EntryFilter): Promise<AuditEntries[]> {
  let query = db
    .selectFrom('audit_entries')
    .selectAll()
    .where('chain', '=', chain)
    .where('seq', '>=', filter.from)
    .where('seq', '<=', filter.to)
  if (filter.action) query = query.where('action', '=', filter.action)
  if (filter.subject) query = query.where('subject', '=', filter.subject)
  return query
    .orderBy('seq', 'desc')
    .limit(filter.limit + 1)
    .execute()
}

/** In the order of the chain. */
export const readEntries = prepared<
  { chain: string; after: number; upTo: number; limit: number },
  Omit<AuditEntries, 'chain'>
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
export const FIELD = '\x1f'

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
export const readSealed = prepared<{ chain: string; after: number; to: number }, JoinedEntries>((db, arg) =>
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
      (isPostgres(db) ? eb.fn.countAll<number>() : ALL_OF_THEIR_KIND).as('n'),
      sql<string | null>`string_agg(concat(action, actor_id, actor_kind, subject, ts), '')`.as('quoted'),
      sql<string | null>`string_agg(concat(prev_hash, ${SEPARATOR}, hash, ${SEPARATOR},
        '{"action":"', action, '","actor":{"id":"', actor_id, '","kind":"', actor_kind, '"},"data":', data,
        ',"prev_hash":"', prev_hash, '","seq":', seq, ',"subject":"', subject, '","ts":"', ts, '"}'), ${SEPARATOR})`.as(
        'text',
      ),
    ]),
)

const SEPARATOR = sql.lit(FIELD)

/** SQLite also keeps bytes in a column of texts, and joins them as if they were one. They sort behind all texts. */
const ALL_OF_THEIR_KIND = sql<number>`count(*) filter (where typeof(seq) = 'integer'
  and max(ts, actor_kind, actor_id, action, subject, data, prev_hash, hash) < x'')`

export const readCheckpoints = prepared<{ chain: string; after: number; upTo: number }, AuditCheckpoints>((db, arg) =>
  db
    .selectFrom('audit_checkpoints')
    .selectAll()
    .where('chain', '=', arg('chain'))
    .where('seq', '>', arg('after'))
    .where('seq', '<=', arg('upTo'))
    .orderBy('seq'),
)

export interface Ends {
  head_seq: number | null
  head_hash: string | null
  head_seal: string | null
  last_entry: number | null
  last_checkpoint: number | null
  /** The number of a row that no chain has. Text: a JavaScript number would pass for another. */
  stray_entry: string | null
  stray_checkpoint: string | null
}

const LAST_NUMBER = Number.MAX_SAFE_INTEGER

const ends = prepared<{ chain: string }, Ends>((db, arg) => {
  const of = (what: string, table: string, which: string) =>
    sql`(select ${sql.raw(what)} from ${sql.table(table)} where chain = ${arg('chain')} and ${sql.raw(which)})`
  const head = (column: string) => of(column, 'audit_heads', `seq between 0 and ${LAST_NUMBER}`)
  const last = (table: string) => of('max(seq)', table, `seq between 1 and ${LAST_NUMBER}`)
  // Two looks at the index; with `or` it would be a walk through the chain.
  const stray = (table: string) =>
    sql`coalesce(${of('cast(min(seq) as text)', table, 'seq < 1')},
      ${of('cast(max(seq) as text)', table, `seq > ${LAST_NUMBER}`)})`
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
export async function endsOf(db: Db, chain: string): Promise<Ends> {
  const [row] = await ends(db, { chain })
  if (!row) throw new Error(`the ends of chain ${chain} cannot be read`)
  return row
}

/**
 * Chains that grew by so many entries since their last checkpoint, or at all since that time; also at all when a clock
 * that was ahead signed it, since that time would be long in coming.
 */
export function chainsToCheck(db: Db, grownBy: number, before: string, now: string): Promise<ChainToCheck[]> {
  return (
    db
      .selectFrom('audit_heads as h')
      .leftJoin('audit_checkpoints as c', (join) =>
        join.onRef('c.chain', '=', 'h.chain').on('c.seq', '=', (eb) =>
          eb
            .selectFrom('audit_checkpoints as l')
            .whereRef('l.chain', '=', 'h.chain')
            .where('l.seq', '<=', LAST_NUMBER)
            .select((of) => of.fn.max('l.seq').as('n')),
        ),
      )
      .select(['h.chain', 'h.seq', 'h.hash', 'h.seal', 'c.seq as checked_seq', 'c.hash as checked_hash'])
      .select(['c.at as checked_at', 'c.kid as checked_kid', 'c.signature as checked_signature'])
      // One number that cannot be read would keep all chains from being signed.
      .where('h.seq', '<=', LAST_NUMBER)
      .where((eb) =>
        eb.or([
          eb.and([eb('c.seq', 'is', null), eb('h.seq', '>', 0)]),
          eb('h.seq', '>=', eb(eb.ref('c.seq'), '+', grownBy)),
          eb.and([eb('h.seq', '>', eb.ref('c.seq')), eb.or([eb('c.at', '<=', before), eb('c.at', '>', now)])]),
        ]),
      )
      .execute()
  )
}

/** A head, and the newest checkpoint before it. */
export interface ChainToCheck extends HeadRow {
  chain: string
  checked_seq: number | null
  checked_hash: string | null
  checked_at: string | null
  checked_kid: string | null
  checked_signature: string | null
}

/** False when another replica was faster. */
export async function insertCheckpoint(db: Db, checkpoint: AuditCheckpoints): Promise<boolean> {
  const result = await db
    .insertInto('audit_checkpoints')
    .values(checkpoint)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}
