import { type RawBuilder, sql } from 'kysely'
import { isPostgres } from '../store/dialect.ts'
import type { Db } from '../store/store.ts'
import type { Records } from '../store/tables.ts'
import { SHAPE_PATH } from './fields.ts'
import type { Shelf } from './where-lead.ts'
import { recordsOfNewest } from './where-newest.ts'
import { onlyOther } from './where-other.ts'
import { ALWAYS, type FieldTest, type Stretch, stretchOf } from './where-sql.ts'

/**
 * The newest records that fulfil all tests, where many fulfil each. The stretches of the tests are read side by side in
 * the order of age, until a page is full: soon when the tests agree, and when hardly a record fulfils all of them, no
 * row is read twice. To try the records of one stretch by the other tests would cost ten times as much then.
 */
export async function recordsMeeting(db: Db, place: Shelf, tests: readonly FieldTest[]): Promise<Records[]> {
  // Outside the merging, which binds PostgreSQL's plans for the one statement that it is meant for.
  const sides = await sidesOf(db, place, tests)
  const { rows } = await merging(db, (planned) => meeting(planned, place, sides).execute(planned))
  return rows
}

/** The stretches that a record must have a row in, and those that it must have none in. */
export interface Sides {
  all: Stretch[]
  none: Stretch[]
}

export async function sidesOf(db: Db, { shelf }: Shelf, tests: readonly FieldTest[]): Promise<Sides> {
  const all = tests.filter((test) => test.present).map(stretchOf)
  const none: Stretch[] = []
  for (const test of tests.filter(({ present }) => !present)) {
    const other = await onlyOther(db, shelf, test)
    if (other) all.push(other)
    else none.push(stretchOf(test))
  }
  return { all: all.length > 0 ? all : [EVERY_RECORD], none }
}

/** The statement for it. */
export function meeting(db: Db, place: Shelf, { all, none }: Sides): RawBuilder<Records> {
  // The first are read the most, and of one key only the rows that count: any other order runs through the whole path.
  const inOrder = all.toSorted((a, b) => Number(b.oneKey) - Number(a.oneKey))
  const sides = {
    all: inOrder.map((stretch) => idsByAge(place, stretch)),
    none: none.map((stretch) => idsByAge(place, stretch)),
  }
  const ids = isPostgres(db) ? joined(sides) : compounded(sides)
  return recordsOfNewest(db, place, ids)
}

/**
 * PostgreSQL can merge joins of what is sorted, but would rather not, by its guess at the number of rows. Here it must,
 * in the order as written; only the records themselves are looked up.
 */
export function merging<T>(db: Db, read: (db: Db) => Promise<T>): Promise<T> {
  if (!isPostgres(db)) return read(db)
  return db.transaction().execute(async (tx) => {
    await sql`select set_config('enable_nestloop', 'off', true), set_config('enable_hashjoin', 'off', true),
      set_config('enable_sort', 'off', true), set_config('join_collapse_limit', '1', true)`.execute(tx)
    return read(tx)
  })
}

/** Each record has one row that tells its shape. */
const EVERY_RECORD: Stretch = { path: SHAPE_PATH, keys: () => ALWAYS, oneKey: false }

type Sql = RawBuilder<unknown>
const NOTHING: Sql = sql``

interface Ids {
  all: Sql[]
  none: Sql[]
}

function idsByAge({ shelf, wedge, cursor }: Shelf, { path, keys, oneKey }: Stretch): Sql {
  // An expression cannot be looked up in the index by key, which would have to be sorted.
  const fits = keys(oneKey ? sql.ref('sort_key') : sql`coalesce(sort_key, '')`)
  return sql`select record_id from record_fields where shelf = ${shelf} and path = ${path} and ${fits}
    ${wedge === undefined ? NOTHING : sql`and wedge = ${wedge}`}
    ${cursor === undefined ? NOTHING : sql`and record_id < ${cursor}`}`
}

/** SQLite merges the parts of a compound when the whole is to be sorted. */
function compounded({ all, none }: Ids): Sql {
  return sql`${sql.join(all, sql` intersect `)} ${each(none, (ids) => sql`except ${ids}`)}`
}

function joined({ all, none }: Ids): Sql {
  const [first = NOTHING, ...others] = all
  // Only what has a plan of its own, for its offset, is read backwards to be left out.
  return sql`select first.record_id from (${first}) as first
    ${each(others, (ids, n) => sql`join (${ids}) ${on(`with${n}`)}`)}
    ${each(none, (ids, n) => sql`left join (${ids} order by record_id desc offset 0) ${on(`without${n}`)}`)}
    where ${ALWAYS} ${each(none, (_, n) => sql`and ${sql.id(`without${n}`, 'record_id')} is null`)}`
}

const on = (side: string): Sql => sql`as ${sql.id(side)} on ${sql.id(side, 'record_id')} = first.record_id`

function each(parts: readonly Sql[], write: (part: Sql, n: number) => Sql): Sql {
  return parts.length > 0 ? sql.join(parts.map(write), sql` `) : NOTHING
}
