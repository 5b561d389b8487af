import * as fc from 'fast-check'
import { type RawBuilder, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../../../../src/platform/base/json.ts'
import { type CollectionPage, hashCollection } from '../../../../src/work/records/filter/collection.ts'
import { type ColumnsByPath, listColumns } from '../../../../src/work/records/filter/column-rows.ts'
import { type FieldTest, toFieldTests } from '../../../../src/work/records/filter/condition-rows.ts'
import {
  findSelectiveTest,
  idsByIndex,
  idsByScan,
  listFilteredRecords,
  selectRecords,
} from '../../../../src/work/records/filter/filter-rows.ts'
import { matchesConditions, parseWhere } from '../../../../src/work/records/filter/where.ts'
import { isPostgres } from '../../../../src/platform/store/dialect.ts'
import type { Db, Store } from '../../../../src/platform/store/store.ts'
import { eachStore } from '../../../stores.ts'
import { emptyStore } from '../empty-store.ts'
import { putTestRecord } from '../put-test-record.ts'

const LONG = 'x'.repeat(60)

/** Few fields and few values, so that many records pass each test and some filters match no record. */
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
  let columns: ColumnsByPath
  const values = fc.sample(value, { numRuns: 300, seed: 11 })
  const things: CollectionPage = { projectId: 'p', collection: 'things', limit: 40 }
  const collectionHash = hashCollection('p', 'things')

  beforeAll(async () => {
    const opened = await emptyStore(kind)
    store = opened.store
    remove = opened.remove
    await putAll('things', values)
    await putAll('others', values.slice(0, 50))
    columns = await listColumns(store.db, collectionHash)
  })
  afterAll(() => remove())

  async function putAll(collection: string, entries: readonly Json[]): Promise<void> {
    for (const [n, entry] of entries.entries()) {
      await putTestRecord(store, { id: idOf(collection, n), wedge: wedgeOf(n), collection, key: String(n) }, entry)
    }
  }

  /** The ids of all pages. */
  async function readPages(page: CollectionPage, ids: (page: CollectionPage) => RawBuilder<unknown>) {
    const found: string[] = []
    for (;;) {
      const current = { ...page, cursor: found.at(-1) }
      const { rows } = await selectRecords(current, ids(current)).execute(store.db)
      found.push(...rows.slice(0, page.limit).map(({ id }) => id))
      if (rows.length <= page.limit) return found
    }
  }

  test('a scan and a search by index return exactly the matching records, in pages, newest first', async () => {
    await fc.assert(
      fc.asyncProperty(
        where,
        fc.constantFrom('even', 'odd', undefined),
        fc.boolean(),
        async (filter, wedge, isOutdated) => {
          const conditions = parseWhere(filter)
          const tests = toFieldTests(conditions)
          const expected = values
            .flatMap((entry, n) =>
              matchesConditions(conditions, entry) && (wedge === undefined || wedge === wedgeOf(n))
                ? [idOf('things', n)]
                : [],
            )
            .toReversed()
          // A scan with an outdated list of columns returns the same records.
          const knownColumns = isOutdated ? new Map<string, number>() : columns
          const page = { ...things, wedge }
          expect(await readPages(page, (current) => idsByScan(collectionHash, current, tests, knownColumns))).toEqual(
            expected,
          )
          for (const selective of tests.filter(({ mustExist }) => mustExist)) {
            expect(
              await readPages(page, (current) => idsByIndex(store.db, collectionHash, current, selective, tests)),
            ).toEqual(expected)
          }
        },
      ),
      { numRuns: 150, seed: 12 },
    )
  })

  test('a query of another project does not return a record, even if the index contains it', async () => {
    const tests = toFieldTests(parseWhere({ e: { $exists: false } }))
    const ids = idsByScan(collectionHash, things, tests, columns)
    expect((await selectRecords(things, ids).execute(store.db)).rows).toHaveLength(41)
    expect((await selectRecords({ ...things, projectId: 'q' }, ids).execute(store.db)).rows).toEqual([])
  })

  test('a filter finds a field without a column by its row in record_fields', async () => {
    const wide = (n: number) => Object.fromEntries(Array.from({ length: 100 }, (_, f) => [`f${f}`, n % (f + 2)]))
    const entries = Array.from({ length: 30 }, (_, n) => wide(n))
    await putAll('wide', entries)
    const page = { ...things, collection: 'wide' }
    const wideColumns = await listColumns(store.db, hashCollection('p', 'wide'))
    expect(wideColumns.size).toBe(64)
    for (const filter of [{ f2: 1, f90: { $gte: 7 } }, { f1: { $ne: 1 }, f99: { $ne: 20 } }, { f100: 1 }]) {
      const conditions = parseWhere(filter)
      const tests = toFieldTests(conditions)
      const expected = entries
        .flatMap((entry, n) => (matchesConditions(conditions, entry) ? [idOf('wide', n)] : []))
        .toReversed()
      const ids = idsByScan(hashCollection('p', 'wide'), page, tests, wideColumns)
      const { rows } = await selectRecords(page, ids).execute(store.db)
      expect(rows.map(({ id }) => id)).toEqual(expected)
      expect((await listFilteredRecords(store.db, page, tests)).map(({ id }) => id)).toEqual(expected)
    }
  })

  const queryPlan = (ids: RawBuilder<unknown>) => explain(store.db, selectRecords(things, ids))

  test.each<[object]>([
    [{ a: true, b: true }],
    [{ a: { $gt: 0 }, d: { $lt: 1 } }],
    [{ a: { $in: [1, 'a'] }, b: 1, d: { $exists: true } }],
    [{ a: { $ne: 1 }, b: { $ne: 1 }, d: { $exists: false } }],
  ])('a scan for %j reads only record_columns', async (filter) => {
    const tests = toFieldTests(parseWhere(filter))
    const plan = await queryPlan(idsByScan(collectionHash, { ...things, wedge: 'even' }, tests, columns))
    expect(plan.filter((step) => /record_fields/.test(step))).toEqual([])
    // On a small table PostgreSQL reads all rows and sorts them.
    if (kind === 'sqlite') expect(plan.join('\n')).toMatch(/SEARCH c USING PRIMARY KEY \(\w+=\?\)/)
  })

  test('a scan runs equality tests first and negative tests last', async () => {
    const tests = toFieldTests(parseWhere({ a: { $gte: 0 }, d: { $ne: 2 }, b: 1 }))
    expect(tests.map(({ path }) => path)).toEqual(['b', 'a', 'd'])
    const { sql: text } = idsByScan(collectionHash, things, tests, columns).compile(store.db)
    const columnsInOrder = text.match(/\bc\d+(?=")/g) ?? []
    expect([...new Set(columnsInOrder)].map((column) => pathOf(columns, column))).toEqual(['b', 'a', 'd'])
  })

  test('a scan reads the rows of a path without a column once, not once for each record', async () => {
    const tests = toFieldTests(parseWhere({ a: true, b: { $ne: 1 } }))
    const plan = await queryPlan(idsByScan(collectionHash, things, tests, new Map()))
    const subqueries = plan.join('\n').match(/hashed SubPlan \d|\bLIST SUBQUERY \d/g) ?? []
    expect(new Set(subqueries).size).toBe(2)
    expect(plan.filter((step) => /correlated/i.test(step))).toEqual([])
  })

  test('the selective test is the positive test that the fewest records pass', async () => {
    await putAll(
      'rare',
      Array.from({ length: 50 }, (_, n) => ({ all: 1, half: n % 2, tenth: n % 10 === 0 })),
    )
    const selectivePath = async (filter: object) =>
      (await findSelectiveTest(store.db, hashCollection('p', 'rare'), toFieldTests(parseWhere(filter))))?.path
    expect(await selectivePath({ all: { $gte: 1 }, half: 1, tenth: true })).toBe('tenth')
    expect(await selectivePath({ all: { $gte: 1 }, tenth: { $ne: false } })).toBe('all')
    expect(await selectivePath({ all: { $ne: 2 }, other: { $exists: false } })).toBeUndefined()
  })

  test.each<[object]>([[{ a: 1, b: { $ne: 2 } }], [{ a: { $in: [1, 7] }, b: { $ne: 2 } }]])(
    'a search by index for %j looks up each record by its id, even without statistics',
    async (filter) => {
      const tests = toFieldTests(parseWhere(filter))
      const [selective] = tests as [FieldTest]
      const plan = await queryPlan(idsByIndex(store.db, collectionHash, things, selective, tests))
      const reads = plan.filter((step) => /(search|scan|on) records\b/i.test(step))
      expect(reads).toHaveLength(1)
      // On a small table PostgreSQL reads all records, but must not search them by their project.
      expect(reads[0]).toMatch(/\(id=\?\)|using records_pkey|seq scan/i)
      expect(plan.filter((step) => /(index cond:.*|using.*)sort_key *=/i.test(step))).toHaveLength(1)
      expect(plan.filter((step) => /semi join/i.test(step))).toEqual([])
    },
  )
})

async function explain(db: Db, statement: RawBuilder<unknown>): Promise<string[]> {
  if (!isPostgres(db)) {
    const { rows } = await sql<{ detail: string }>`explain query plan ${statement}`.execute(db)
    return rows.map(({ detail }) => detail)
  }
  const { rows } = await sql<{ 'QUERY PLAN': string }>`explain ${statement}`.execute(db)
  return rows.map((row) => row['QUERY PLAN'])
}

const pathOf = (columns: ColumnsByPath, column: string) => [...columns].find(([, n]) => `c${n}` === column)?.[0]
const idOf = (collection: string, n: number) => `rec_${collection}${String(n).padStart(6, '0')}`
const wedgeOf = (n: number) => (n % 2 === 0 ? 'even' : 'odd')
