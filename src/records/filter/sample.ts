import { sql } from 'kysely'
import type { Db } from '../../store/store.ts'
import type { CollectionPage } from './collection.ts'
import { columnsMatch, type FieldTest, recordMatches } from './condition-sql.ts'

/** Which tests the newest and the oldest hundred records of a shelf fulfil. To count all would cost more. */
export interface FilterSample {
  tests: readonly FieldTest[]
  newest: readonly SampleGroup[]
  oldest: readonly SampleGroup[]
}

/** So many records that fulfil the same tests. */
interface SampleGroup {
  fulfilled: ReadonlySet<FieldTest>
  records: number
}

export async function sampleCollection(
  db: Db,
  place: CollectionPage,
  tests: readonly FieldTest[],
): Promise<FilterSample> {
  const answers = sql.join(tests.map((_, n) => sql.id(`n${n}`)))
  const ends = sql`${sampleEnd('newest', place, tests)} union all ${sampleEnd('oldest', place, tests)}`
  // Not a row for each record: to read those took longer than to look.
  const { rows } = await sql<Row>`select place, ${answers}, count(*) as records from (${ends}) as ends
    group by place, ${answers}`.execute(db)
  const seen = (end: End) => rows.filter((row) => row.place === end).map((row) => toSampleGroup(tests, row))
  return { tests, newest: seen('newest'), oldest: seen('oldest') }
}

type End = 'newest' | 'oldest'
type Row = { place: End; records: number } & Record<`n${number}`, number>

const toSampleGroup = (tests: readonly FieldTest[], row: Row): SampleGroup => ({
  fulfilled: new Set(tests.filter((_, n) => row[`n${n}`] === 1)),
  records: row.records,
})

const SAMPLE_SIZE = 100

function sampleEnd(end: End, { shelf, columns }: CollectionPage, tests: readonly FieldTest[]) {
  const answers = tests.map((test, n) => {
    const fits = columnsMatch(columns, [test], (untold) => recordMatches('c.record_id', untold))
    return sql`case when ${fits} then 1 else 0 end as ${sql.id(`n${n}`)}`
  })
  const order = end === 'newest' ? sql`desc` : sql`asc`
  return sql`select * from (select ${sql.lit(end)} as place, ${sql.join(answers)} from record_columns as c
    where c.shelf = ${shelf} order by c.record_id ${order} limit ${sql.lit(SAMPLE_SIZE)}) as ${sql.id(end)}`
}

/**
 * The tests that many records seem to fulfil: at both ends, because what is common among the newest, such as a state that
 * passes, may be rare on the whole.
 */
export function broadTests({ tests, newest, oldest }: FilterSample): Set<FieldTest> {
  return new Set(
    tests.filter((test) => countMatches(test, newest) >= BROAD_MATCHES && countMatches(test, oldest) >= BROAD_MATCHES),
  )
}

const BROAD_MATCHES = 10

/** Each test that the fewest fulfil of those records that pass the ones before it: most records then fail early. */
export function orderByRarity({ tests, newest, oldest }: FilterSample): FieldTest[] {
  let left = [...newest, ...oldest]
  let open = tests
  const inOrder: FieldTest[] = []
  for (;;) {
    const counts = open.map((test) => countMatches(test, left))
    const rarest = open[counts.indexOf(Math.min(...counts))]
    if (!rarest) return inOrder
    inOrder.push(rarest)
    left = left.filter(({ fulfilled }) => fulfilled.has(rarest))
    open = open.filter((test) => test !== rarest)
  }
}

function countMatches(test: FieldTest, seen: readonly SampleGroup[]): number {
  return seen.filter(({ fulfilled }) => fulfilled.has(test)).reduce((sum, { records }) => sum + records, 0)
}
