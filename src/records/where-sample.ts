import { sql } from 'kysely'
import type { Db } from '../store/store.ts'
import type { Shelf } from './shelf.ts'
import { columnsFulfil, type FieldTest, recordFulfils } from './where-sql.ts'

/** Which tests the newest and the oldest hundred records of a shelf fulfil. To count all would cost more. */
export interface Glance {
  tests: readonly FieldTest[]
  newest: readonly Alike[]
  oldest: readonly Alike[]
}

/** So many records that fulfil the same tests. */
interface Alike {
  fulfilled: ReadonlySet<FieldTest>
  records: number
}

export async function glanceAt(db: Db, place: Shelf, tests: readonly FieldTest[]): Promise<Glance> {
  const answers = sql.join(tests.map((_, n) => sql.id(`n${n}`)))
  const ends = sql`${recordsAt('newest', place, tests)} union all ${recordsAt('oldest', place, tests)}`
  // Not a row for each record: to read those took longer than to look.
  const { rows } = await sql<Row>`select place, ${answers}, count(*) as records from (${ends}) as ends
    group by place, ${answers}`.execute(db)
  const seen = (end: End) => rows.filter((row) => row.place === end).map((row) => alike(tests, row))
  return { tests, newest: seen('newest'), oldest: seen('oldest') }
}

type End = 'newest' | 'oldest'
type Row = { place: End; records: number } & Record<`n${number}`, number>

const alike = (tests: readonly FieldTest[], row: Row): Alike => ({
  fulfilled: new Set(tests.filter((_, n) => row[`n${n}`] === 1)),
  records: row.records,
})

const SAMPLE = 100

function recordsAt(end: End, { shelf, columns }: Shelf, tests: readonly FieldTest[]) {
  const answers = tests.map((test, n) => {
    const fits = columnsFulfil(columns, [test], (untold) => recordFulfils('c.record_id', untold))
    return sql`case when ${fits} then 1 else 0 end as ${sql.id(`n${n}`)}`
  })
  const order = end === 'newest' ? sql`desc` : sql`asc`
  return sql`select * from (select ${sql.lit(end)} as place, ${sql.join(answers)} from record_columns as c
    where c.shelf = ${shelf} order by c.record_id ${order} limit ${sql.lit(SAMPLE)}) as ${sql.id(end)}`
}

/**
 * The tests that many records seem to fulfil: at both ends, because what is common among the newest, such as a state that
 * passes, may be rare on the whole.
 */
export function broadTests({ tests, newest, oldest }: Glance): Set<FieldTest> {
  return new Set(tests.filter((test) => hits(test, newest) >= BROAD && hits(test, oldest) >= BROAD))
}

const BROAD = 10

/** Each test that the fewest fulfil of those records that pass the ones before it: most records then fail early. */
export function rarestFirst({ tests, newest, oldest }: Glance): FieldTest[] {
  let left = [...newest, ...oldest]
  let open = tests
  const inOrder: FieldTest[] = []
  for (;;) {
    const counts = open.map((test) => hits(test, left))
    const rarest = open[counts.indexOf(Math.min(...counts))]
    if (!rarest) return inOrder
    inOrder.push(rarest)
    left = left.filter(({ fulfilled }) => fulfilled.has(rarest))
    open = open.filter((test) => test !== rarest)
  }
}

function hits(test: FieldTest, seen: readonly Alike[]): number {
  return seen.filter(({ fulfilled }) => fulfilled.has(test)).reduce((sum, { records }) => sum + records, 0)
}
