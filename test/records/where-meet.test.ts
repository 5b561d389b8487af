import * as fc from 'fast-check'
import { type RawBuilder, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../../src/base/json.ts'
import { fieldsOf } from '../../src/records/fields.ts'
import { indexFields, upsert } from '../../src/records/rows.ts'
import { matches, parseWhere } from '../../src/records/where.ts'
import { gatheredIds, leadingTest, type Shelf } from '../../src/records/where-lead.ts'
import { meeting, merging, recordsMeeting, sidesOf } from '../../src/records/where-meet.ts'
import { recordsOfNewest } from '../../src/records/where-newest.ts'
import { fieldTests } from '../../src/records/where-sql.ts'
import { isPostgres } from '../../src/store/dialect.ts'
import type { Db, Store } from '../../src/store/store.ts'
import { eachStore } from '../stores.ts'
import { emptyStore } from './empty-store.ts'

/** Few fields and few values, so that many records fulfil each test and some filters are fulfilled by none. */
const scalar = fc.constantFrom<Json>(0, 1, 2, '', 'a', 'b', true, false, null)
const value = fc.record(
  { a: scalar, b: fc.oneof(scalar, fc.record({ c: scalar }), fc.array(scalar, { maxLength: 1 })), d: scalar },
  { requiredKeys: [] },
)
const ordered = fc.constantFrom(0, 1, 1.5, 'a', 'aa')
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
  let place: Shelf
  const values = fc.sample(value, { numRuns: 300, seed: 11 })

  beforeAll(async () => {
    const opened = await emptyStore(kind)
    store = opened.store
    remove = opened.remove
    for (const [n, entry] of values.entries()) await put(store, 'things', n, entry)
    for (const [n, entry] of values.slice(0, 50).entries()) await put(store, 'others', n, entry)
    place = { projectId: 'p', shelf: await shelfOf(store, idOf('things', 0)), limit: 40 }
  })
  afterAll(() => remove())

  test('tests that are read side by side find exactly what `where` means, in pages, newest first', async () => {
    await fc.assert(
      fc.asyncProperty(where, fc.constantFrom('even', 'odd', undefined), async (filter, wedge) => {
        const conditions = parseWhere(filter)
        const expected = values.flatMap((entry, n) =>
          matches(conditions, entry) && (wedge === undefined || wedge === wedgeOf(n)) ? [idOf('things', n)] : [],
        )
        const found: string[] = []
        for (let more = true; more; ) {
          const page = await recordsMeeting(store.db, { ...place, wedge, cursor: found.at(-1) }, fieldTests(conditions))
          found.push(...page.slice(0, place.limit).map((record) => record.id))
          more = page.length > place.limit
        }
        expect(found).toEqual(expected.toReversed())
      }),
      { numRuns: 200, seed: 12 },
    )
  })

  test('no record of another project is found, even by the same place in the index', async () => {
    const tests = fieldTests(parseWhere({ e: { $exists: false } }))
    expect(await recordsMeeting(store.db, place, tests)).toHaveLength(41)
    expect(await recordsMeeting(store.db, { ...place, projectId: 'q' }, tests)).toEqual([])
  })

  test('what rules out one of the two values of a field is asked for by the other, until a record has neither', async () => {
    const flags = [true, false, false, true, false]
    for (const [n, done] of flags.entries()) await put(store, 'flags', n, { done })
    const shelf = { ...place, shelf: await shelfOf(store, idOf('flags', 0)) }
    const tests = fieldTests(parseWhere({ done: { $ne: true } }))
    const found = async () => (await recordsMeeting(store.db, shelf, tests)).map(({ key }) => Number(key))
    expect(await sidesOf(store.db, shelf, tests)).toMatchObject({ all: [{ path: 'done', oneKey: true }], none: [] })
    expect(await found()).toEqual([4, 2, 1])
    await put(store, 'flags', 5, { other: 1 })
    expect(await sidesOf(store.db, shelf, tests)).toMatchObject({ none: [{ path: 'done' }] })
    expect(await found()).toEqual([5, 4, 2, 1])
    await put(store, 'flags', 5, { done: 'soon' })
    expect(await sidesOf(store.db, shelf, tests)).toMatchObject({ none: [{ path: 'done' }] })
    expect(await found()).toEqual([5, 4, 2, 1])
  })

  test.each<[object, number]>([
    [{ a: true, b: true }, 2],
    [{ a: { $gt: 0 }, d: { $lt: 1 } }, 2],
    [{ a: { $in: [1, 'a'] }, b: 1, d: { $exists: true } }, 3],
    [{ a: true, b: { $ne: 1 } }, 2],
    // Where nothing must be there, the stretch of all records is read too.
    [{ a: { $ne: 1 }, b: { $ne: 1 }, d: { $exists: false } }, 4],
  ])('for %j the store merges stretches that lie in order, and sorts nothing', async (filter, stretches) => {
    const plan = await planOf(store, { ...place, wedge: 'even' }, fieldTests(parseWhere(filter)))
    const reads = plan.filter((step) => /(search|scan|on) record_fields/i.test(step))
    expect(reads).toHaveLength(stretches)
    for (const step of reads) expect(step).toMatch(/covering index|index (only )?scan backward/i)
    expect(plan.filter((step) => /merge (\(|(anti )?join)/i.test(step))).toHaveLength(stretches - 1)
    expect(plan.filter((step) => /sort {2}|temp b-tree|hash|seq scan|scan records/i.test(step))).toEqual([])
  })

  test('what few records fulfil is looked up by id, though the store knows nothing of a table that was just filled', async () => {
    const tests = fieldTests(parseWhere({ a: 1, b: { $ne: 2 } }))
    const lead = await leadingTest(store.db, place, tests)
    if (!lead) throw new Error('nothing leads')
    const plan = await explained(store.db, recordsOfNewest(store.db, place, gatheredIds(store.db, place, lead, tests)))
    const reads = plan.filter((step) => /(search|scan|on) records\b/i.test(step))
    expect(reads).toHaveLength(1)
    expect(reads[0]).toMatch(/\(id=\?\)|using records_pkey/i)
    expect(plan.filter((step) => /semi join/i.test(step))).toEqual([])
  })
})

async function planOf(store: Store, place: Shelf, tests: ReturnType<typeof fieldTests>): Promise<string[]> {
  const sides = await sidesOf(store.db, place, tests)
  return merging(store.db, (db) => explained(db, meeting(db, place, sides)))
}

async function explained(db: Db, statement: RawBuilder<unknown>): Promise<string[]> {
  if (!isPostgres(db)) {
    const { rows } = await sql<{ detail: string }>`explain query plan ${statement}`.execute(db)
    return rows.map(({ detail }) => detail)
  }
  const { rows } = await sql<{ 'QUERY PLAN': string }>`explain ${statement}`.execute(db)
  return rows.map((row) => row['QUERY PLAN'])
}

const idOf = (collection: string, n: number) => `rec_${collection}${String(n).padStart(6, '0')}`
const wedgeOf = (n: number) => (n % 2 === 0 ? 'even' : 'odd')

async function shelfOf(store: Store, id: string): Promise<string> {
  const row = await store.db.selectFrom('record_fields').select('shelf').where('record_id', '=', id).executeTakeFirst()
  return row?.shelf ?? ''
}

function put(store: Store, collection: string, n: number, value: Json) {
  return store.transact(async (db) => {
    const at = '2026-01-01T00:00:00.000Z'
    const times = { created_at: at, updated_at: at }
    const row = { id: idOf(collection, n), project_id: 'p', wedge: wedgeOf(n), collection, key: String(n), ...times }
    const [record] = await upsert(db, { ...row, value: JSON.stringify(value) })
    if (record) await indexFields(db, record, fieldsOf(value))
  })
}
