import * as fc from 'fast-check'
import { type RawBuilder, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../../../src/base/json.ts'
import { listColumns } from '../../../src/records/filter/column-rows.ts'
import { hashCollection } from '../../../src/records/filter/collection.ts'
import { matchesConditions, parseWhere } from '../../../src/records/filter/where.ts'
import type { CollectionPage } from '../../../src/records/filter/collection.ts'
import { planByIndex, chooseLeadingTest } from '../../../src/records/filter/plan-by-index.ts'
import { withIndexOrder } from '../../../src/records/filter/newest-records.ts'
import { broadTests, sampleCollection, orderByRarity } from '../../../src/records/filter/sample.ts'
import { planByScan } from '../../../src/records/filter/plan-by-scan.ts'
import { type FieldTest, toFieldTests } from '../../../src/records/filter/condition-sql.ts'
import { isPostgres } from '../../../src/store/dialect.ts'
import type { Db, Store } from '../../../src/store/store.ts'
import type { RecordRow } from '../../../src/store/tables.ts'
import { eachStore } from '../../stores.ts'
import { emptyStore } from '../empty-store.ts'
import { putTestRecord } from '../put-test-record.ts'

/** Longer than what a column holds of a string. */
const LONG = 'x'.repeat(60)

/** Few fields and few values, so that many records fulfil each test and some filters are fulfilled by none. */
const scalar = fc.constantFrom<Json>(0, 1, 2, 0.5, 256, '', 'a', 'b', LONG, `${LONG}y`, true, false, null)
const value = fc.record(
  { a: scalar, b: fc.oneof(scalar, fc.record({ c: scalar }), fc.array(scalar, { maxLength: 1 })), d: scalar },
  { requiredKeys: [] },
)
const ordered = fc.constantFrom(0, 1, 1.5, 255, 'a', 'aa', 'x', LONG, `${LONG}xy`)
const wanted = fc.oneof(
  scalar,
  fc.record({ $ne: scalar }),
  fc.record({ $exists: fc.boolean() }),
  fc.record({ $in: fc.array(scalar, { maxLength: 3 }) }),
  fc
    .record({ $gt: ordered, $lte: ordered, $ne: scalar, $exists: fc.boolean() }, { requiredKeys: [] })
    .filter((operators) => Object.keys(operators).length > 0),
)
const where = fc.dictionary(fc.constantFrom('a', 'b', 'b.c', 'd'), wanted, { minKeys: 1, maxKeys: 4 })

eachStore((kind) => {
  let store: Store
  let remove: () => Promise<void>
  let place: CollectionPage
  const values = fc.sample(value, { numRuns: 300, seed: 11 })

  beforeAll(async () => {
    const opened = await emptyStore(kind)
    store = opened.store
    remove = opened.remove
    await putAll('things', values)
    await putAll('others', values.slice(0, 50))
    place = await placeOf('things')
  })
  afterAll(() => remove())

  async function putAll(collection: string, entries: readonly Json[]): Promise<void> {
    for (const [n, entry] of entries.entries()) {
      await putTestRecord(store, { id: idOf(collection, n), wedge: wedgeOf(n), collection, key: String(n) }, entry)
    }
  }

  async function scanned(at: CollectionPage, tests: readonly FieldTest[]): Promise<RecordRow[]> {
    return (await withIndexOrder(store.db, (db) => planByScan(db, at, tests).execute(db))).rows
  }

  async function placeOf(collection: string): Promise<CollectionPage> {
    const shelf = hashCollection('p', collection)
    return { projectId: 'p', shelf, columns: await listColumns(store.db, shelf), limit: 40 }
  }

  test('tests that are tried by age find exactly what `where` means, in pages, newest first', async () => {
    await fc.assert(
      fc.asyncProperty(where, fc.constantFrom('even', 'odd', undefined), fc.boolean(), async (filter, wedge, late) => {
        const conditions = parseWhere(filter)
        // Who looked before the paths got their columns finds the same.
        const columns = late ? place.columns : new Map<string, number>()
        const expected = values.flatMap((entry, n) =>
          matchesConditions(conditions, entry) && (wedge === undefined || wedge === wedgeOf(n))
            ? [idOf('things', n)]
            : [],
        )
        const found: string[] = []
        for (let more = true; more; ) {
          const page = await scanned({ ...place, columns, wedge, cursor: found.at(-1) }, toFieldTests(conditions))
          found.push(...page.slice(0, place.limit).map((record) => record.id))
          more = page.length > place.limit
        }
        expect(found).toEqual(expected.toReversed())
      }),
      { numRuns: 200, seed: 12 },
    )
  })

  test('no record of another project is found, even by the same place in the index', async () => {
    const tests = toFieldTests(parseWhere({ e: { $exists: false } }))
    expect(await scanned(place, tests)).toHaveLength(41)
    expect(await scanned({ ...place, projectId: 'q' }, tests)).toEqual([])
  })

  test('a field for which no column was left is found by its row', async () => {
    const wide = (n: number) => Object.fromEntries(Array.from({ length: 100 }, (_, f) => [`f${f}`, n % (f + 2)]))
    const entries = Array.from({ length: 30 }, (_, n) => wide(n))
    await putAll('wide', entries)
    const shelf = await placeOf('wide')
    expect(shelf.columns.size).toBe(64)
    for (const filter of [{ f2: 1, f90: { $gte: 7 } }, { f1: { $ne: 1 }, f99: { $ne: 20 } }, { f100: 1 }]) {
      const conditions = parseWhere(filter)
      const expected = entries
        .flatMap((entry, n) => (matchesConditions(conditions, entry) ? [String(n)] : []))
        .toReversed()
      const found = await scanned(shelf, toFieldTests(conditions))
      expect(found.map(({ key }) => key)).toEqual(expected)
    }
  })

  test.each<[object]>([
    [{ a: true, b: true }],
    [{ a: { $gt: 0 }, d: { $lt: 1 } }],
    [{ a: { $in: [1, 'a'] }, b: 1, d: { $exists: true } }],
    [{ a: { $ne: 1 }, b: { $ne: 1 }, d: { $exists: false } }],
  ])('for %j the store reads one row a record, in order, and sorts nothing', async (filter) => {
    const tests = toFieldTests(parseWhere(filter))
    const plan = await withIndexOrder(store.db, (db) =>
      explained(db, planByScan(db, { ...place, wedge: 'even' }, tests)),
    )
    const reads = plan.filter((step) => /record_(columns|fields)|search c\b/i.test(step))
    expect(reads).toHaveLength(1)
    expect(reads[0]).toMatch(/using primary key|index scan backward using record_columns_pkey/i)
    expect(plan.filter((step) => /sort {2}|temp b-tree|hash|seq scan|bitmap|scan records/i.test(step))).toEqual([])
  })

  test('the store tries a record in the order of the tests', async () => {
    const tests = toFieldTests(parseWhere({ a: { $gte: 0 }, b: 1, d: { $ne: 2 } }))
    const plan = await withIndexOrder(store.db, (db) => explained(db, planByScan(db, place, tests)))
    const tried = plan.find((step) => /filter: .*c\d/i.test(step))?.match(/\bc\d+/g)
    // SQLite tells of no filters; it keeps to the order of the statement.
    const expected = kind === 'sqlite' ? undefined : ['a', 'a', 'b', 'd', 'd']
    expect(tried?.map((column) => pathOf(place, column))).toEqual(expected)
  })

  test('of a path without a column all rows are read once, not again for each record', async () => {
    const tests = toFieldTests(parseWhere({ a: true, b: { $ne: 1 } }))
    const blind = { ...place, columns: new Map<string, number>() }
    const plan = await withIndexOrder(store.db, (db) => explained(db, planByScan(db, blind, tests)))
    const sets = plan.join('\n').match(/hashed SubPlan \d|\bLIST SUBQUERY \d/g) ?? []
    // On SQLite the ids of the page are one more.
    expect(new Set(sets).size).toBe(kind === 'sqlite' ? 3 : 2)
    expect(plan.filter((step) => /correlated|seq scan|subquery scan/i.test(step))).toEqual([])
  })

  test('what is common among the newest only is not taken for what many fulfil', async () => {
    await putAll(
      'states',
      Array.from({ length: 220 }, (_, n) => ({ state: n < 120 ? 'done' : 'new', odd: n % 2 === 1 })),
    )
    const tests = toFieldTests(parseWhere({ state: 'new', odd: true, other: 1 }))
    const glance = await sampleCollection(store.db, await placeOf('states'), tests)
    expect(broadTests(glance)).toEqual(new Set([tests[1]]))
  })

  test('a record is tried first by what the fewest fulfil, and at last by what no column tells', async () => {
    await putAll(
      'rare',
      Array.from({ length: 50 }, (_, n) => ({
        all: 1,
        text: `${LONG}${n}`,
        half: n % 2,
        tenth: n % 10 === 0,
        name: 'n',
      })),
    )
    const shelf = await placeOf('rare')
    const filter = { text: { $gt: LONG }, all: { $gte: 1 }, name: { $ne: 'm' }, half: 1, tenth: true }
    const tests = orderByRarity(await sampleCollection(store.db, shelf, toFieldTests(parseWhere(filter))))
    expect(tests.map(({ path }) => path)).toEqual(['tenth', 'half', 'text', 'all', 'name'])
    const tried = planByScan(store.db, shelf, tests)
      .compile(store.db)
      .sql.match(/\bc\d+(?=")/g)
    expect([...new Set(tried)].map((column) => pathOf(shelf, column))).toEqual(['tenth', 'half', 'all', 'name', 'text'])
  })

  test.each<[object]>([[{ a: 1, b: { $ne: 2 } }], [{ a: { $in: [1, 7] }, b: { $ne: 2 } }]])(
    'for %j the few are looked up by key and id, whether or not the store knows something of the table',
    async (filter) => {
      const tests = toFieldTests(parseWhere(filter))
      const lead = await chooseLeadingTest(store.db, place, await sampleCollection(store.db, place, tests))
      if (!lead) throw new Error('nothing leads')
      const planOn = (db: Db) => explained(db, planByIndex(db, place, lead, tests))
      const plans = async () => [await planOn(store.db), await withIndexOrder(store.db, planOn)]
      const ofNewTable = await plans()
      await sql`analyze`.execute(store.db)
      for (const plan of [...ofNewTable, ...(await plans())]) {
        const reads = plan.filter((step) => /(search|scan|on) records\b/i.test(step))
        expect(reads).toHaveLength(1)
        expect(reads[0]).toMatch(/\(id=\?\)|using records_pkey/i)
        expect(plan.filter((step) => /(index cond:.*|using.*)sort_key *=/i.test(step))).toHaveLength(1)
        expect(plan.filter((step) => /semi join|seq scan/i.test(step))).toEqual([])
      }
    },
  )
})

async function explained(db: Db, statement: RawBuilder<unknown>): Promise<string[]> {
  if (!isPostgres(db)) {
    const { rows } = await sql<{ detail: string }>`explain query plan ${statement}`.execute(db)
    return rows.map(({ detail }) => detail)
  }
  const { rows } = await sql<{ 'QUERY PLAN': string }>`explain ${statement}`.execute(db)
  return rows.map((row) => row['QUERY PLAN'])
}

const pathOf = ({ columns }: CollectionPage, column: string) => [...columns].find(([, n]) => `c${n}` === column)?.[0]
const idOf = (collection: string, n: number) => `rec_${collection}${String(n).padStart(6, '0')}`
const wedgeOf = (n: number) => (n % 2 === 0 ? 'even' : 'odd')
