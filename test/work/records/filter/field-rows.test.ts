import * as fc from 'fast-check'
import { type CompiledQuery, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../../../../src/platform/base/json.ts'
import { isPostgres } from '../../../../src/platform/store/dialect.ts'
import type { Db, Store } from '../../../../src/platform/store/store.ts'
import { toFieldTests } from '../../../../src/work/records/filter/condition-rows.ts'
import { findFewRecordIds } from '../../../../src/work/records/filter/field-rows.ts'
import { parseWhere } from '../../../../src/work/records/filter/where.ts'
import { listRecords } from '../../../../src/work/records/rows.ts'
import { eachStore } from '../../../stores.ts'
import { emptyStore } from '../empty-store.ts'
import { putTestRecord } from '../put-test-record.ts'
import { matchesConditions } from './matches-conditions.ts'

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

/** With this limit a list looks up no records by their ids. */
const NO_INDEX = -1

eachStore((kind) => {
  let store: Store
  let remove: () => Promise<void>
  const values = fc.sample(value, { numRuns: 300, seed: 11 })

  beforeAll(async () => {
    const opened = await emptyStore(kind)
    store = opened.store
    remove = opened.remove
    await putAll('things', values)
    await putAll('others', values.slice(0, 50))
  })
  afterAll(() => remove())

  async function putAll(collection: string, entries: readonly Json[]): Promise<void> {
    for (const [n, entry] of entries.entries()) {
      await putTestRecord(store, { id: idOf(collection, n), wedge: wedgeOf(n), collection, key: String(n) }, entry)
    }
  }

  /** The ids of all pages. */
  async function readPages(collection: string, filter: object, wedge?: string, maxIndexed?: number) {
    const page = { collection, wedge, where: parseWhere(filter), limit: 40 }
    const found: string[] = []
    for (;;) {
      const rows = await listRecords(store.db, ['p'], { ...page, cursor: found.at(-1) }, maxIndexed)
      found.push(...rows.slice(0, page.limit).map(({ id }) => id))
      if (rows.length <= page.limit) return found
    }
  }

  test('a search by index and a comparison of all records return exactly the matching records, newest first', async () => {
    await fc.assert(
      fc.asyncProperty(where, fc.constantFrom('even', 'odd', undefined), async (filter, wedge) => {
        const conditions = parseWhere(filter)
        const expected = values
          .flatMap((entry, n) =>
            matchesConditions(conditions, entry) && (wedge === undefined || wedge === wedgeOf(n))
              ? [idOf('things', n)]
              : [],
          )
          .toReversed()
        expect(await readPages('things', filter, wedge)).toEqual(expected)
        expect(await readPages('things', filter, wedge, NO_INDEX)).toEqual(expected)
      }),
      { numRuns: 150, seed: 12 },
    )
  })

  test('a query of another project does not return a record, even if the index contains it', async () => {
    const ofOther = store.db.updateTable('record_fields').where('collection', '=', 'others')
    await ofOther.set({ project_id: 'q' }).execute()
    const filter = { where: parseWhere({ a: { $exists: true } }), limit: 40 }
    for (const maxIndexed of [undefined, NO_INDEX])
      expect(await listRecords(store.db, ['q'], filter, maxIndexed)).toEqual([])
  })

  test('a filter finds the fields of records with many fields', async () => {
    const wide = (n: number) => Object.fromEntries(Array.from({ length: 100 }, (_, f) => [`f${f}`, n % (f + 2)]))
    const entries = Array.from({ length: 30 }, (_, n) => wide(n))
    await putAll('wide', entries)
    for (const filter of [{ f2: 1, f90: { $gte: 7 } }, { f1: { $ne: 1 }, f99: { $ne: 20 } }, { f100: 1 }]) {
      const conditions = parseWhere(filter)
      const expected = entries
        .flatMap((entry, n) => (matchesConditions(conditions, entry) ? [idOf('wide', n)] : []))
        .toReversed()
      expect(await readPages('wide', filter)).toEqual(expected)
      expect(await readPages('wide', filter, undefined, NO_INDEX)).toEqual(expected)
    }
  })

  test('tests for equality are compared first and negative tests last', () => {
    const tests = toFieldTests(parseWhere({ a: { $gte: 0 }, d: { $ne: 2 }, b: 1 }))
    expect(tests.map(({ path }) => path)).toEqual(['b', 'a', 'd'])
  })

  test('few records are found by all tests for equality together, or by another positive test', async () => {
    await putAll(
      'rare',
      Array.from({ length: 50 }, (_, n) => ({ all: 1, half: n % 2, third: n % 3, tenth: n % 10 })),
    )
    const countFew = async (filter: object, max: number) =>
      (await findFewRecordIds(store.db, { projectId: 'p', collection: 'rare' }, toFieldTests(parseWhere(filter)), max))
        ?.length
    expect(await countFew({ all: 1, half: 1, third: 1 }, 9)).toBe(9)
    expect(await countFew({ all: 1, half: 1, third: 1 }, 8)).toBeUndefined()
    expect(await countFew({ all: 1, tenth: { $gte: 9 } }, 5)).toBe(5)
    expect(await countFew({ all: 1, tenth: { $in: [3, 4] } }, 9)).toBeUndefined()
    expect(await countFew({ all: { $ne: 2 }, other: { $exists: false } }, 50)).toBeUndefined()
  })

  test.each<[object]>([
    [{ a: 1, b: { $ne: 2 } }],
    [{ a: 1, b: true }],
    [{ a: { $gt: 1 }, b: { $ne: 2 } }],
    [{ a: { $in: [1, 7] }, b: { $ne: 2 } }],
  ])('a filter for %j reads only index rows of its fields, and records by their ids', async (filter) => {
    const statements = recordStatements(store.db)
    await readPages('things', filter)
    const plans: string[] = []
    for (const statement of statements.stop()) plans.push(...(await explain(store, statement)))
    const reads = plans.filter((step) => /record_fields|\brecords\b/.test(step) && /scan|search/i.test(step))
    expect(reads.length).toBeGreaterThan(1)
    const byIndex = /using.* (record_fields_\w+|primary key|records_\w+)/i
    expect(reads.filter((step) => !byIndex.test(step))).toEqual([])
  })
})

/** The statements that Kysely executes from now on. */
function recordStatements(db: Db): { stop: () => CompiledQuery[] } {
  const executor = db.getExecutor()
  const execute = executor.executeQuery.bind(executor)
  const statements = new Map<string, CompiledQuery>()
  executor.executeQuery = (query) => {
    statements.set(query.sql, query)
    return execute(query)
  }
  return {
    stop() {
      executor.executeQuery = execute
      return [...statements.values()]
    },
  }
}

/** The plan of a statement. On PostgreSQL these tables are so small that reading all rows would cost less. */
function explain(store: Store, query: CompiledQuery): Promise<string[]> {
  return store.transact(async (db) => {
    if (!isPostgres(db)) {
      const { rows } = await db.executeQuery<{ detail: string }>({ ...query, sql: `explain query plan ${query.sql}` })
      return rows.map(({ detail }) => detail)
    }
    for (const name of ['enable_seqscan', 'enable_bitmapscan']) await sql.raw(`set local ${name} = off`).execute(db)
    const { rows } = await db.executeQuery<{ 'QUERY PLAN': string }>({ ...query, sql: `explain ${query.sql}` })
    return rows.map((row) => row['QUERY PLAN'])
  })
}

const idOf = (collection: string, n: number) => `rec_${collection}${String(n).padStart(6, '0')}`
const wedgeOf = (n: number) => (n % 2 === 0 ? 'even' : 'odd')
