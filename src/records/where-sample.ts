import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../store/store.ts'
import type { Shelf } from './shelf.ts'
import { byAge } from './where-newest.ts'
import { columnsFulfil, type FieldTest, recordFulfils } from './where-sql.ts'

/**
 * The tests that many records seem to fulfil, by a glance at the newest and the oldest of the shelf: at both ends, because
 * what is common among the newest, such as a state that passes, may be rare on the whole. To count would cost more.
 */
export async function broadTests(db: Db, place: Shelf, tests: readonly FieldTest[]): Promise<Set<FieldTest>> {
  if (tests.length === 0) return new Set()
  const { rows: ends } = await byAge(db, (planned) =>
    sql<Hits>`${hitsAtEnd(place, tests, sql`desc`)} union all ${hitsAtEnd(place, tests, sql`asc`)}`.execute(planned),
  )
  return new Set(tests.filter((_, n) => ends.every((hits) => (hits[`n${n}`] ?? 0) >= BROAD)))
}

type Hits = Record<`n${number}`, number>

const SAMPLE = 100
const BROAD = 10

function hitsAtEnd({ shelf, columns }: Shelf, tests: readonly FieldTest[], order: RawBuilder<unknown>) {
  const hits = tests.map((test, n) => {
    const fits = columnsFulfil(columns, [test], (untold) => recordFulfils('c.record_id', untold))
    return sql`count(case when ${fits} then 1 end) as ${sql.id(`n${n}`)}`
  })
  return sql`select ${sql.join(hits)} from (select * from record_columns where shelf = ${shelf}
    order by record_id ${order} limit ${SAMPLE}) as c`
}
