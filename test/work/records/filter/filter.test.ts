import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../../../../src/platform/base/json.ts'
import { toRecordFields, MAX_RECORD_FIELDS, toSortKey } from '../../../../src/work/records/filter/fields.ts'
import { listRecords } from '../../../../src/work/records/rows.ts'
import { parseWhere } from '../../../../src/work/records/filter/where.ts'
import type { Store } from '../../../../src/platform/store/store.ts'
import { eachStore } from '../../../stores.ts'
import { emptyStore } from '../empty-store.ts'
import { putTestRecord } from '../put-test-record.ts'
import { matchesConditions } from './matches-conditions.ts'

/** Few names and few values, so that conditions often match. */
const text = fc.oneof(
  fc.constantFrom('', 'a', 'A', 'b', 'é', '\u{1F600}', '\uFFFD', 'a\u0301', '%', "'", '1', 'x'.repeat(300)),
  fc.string({ unit: 'binary', maxLength: 6 }).filter((string) => !string.includes('\0')),
)
const number = fc.oneof(
  fc.constantFrom(0, -0, 1, -1, 2 ** 53, 2 ** 60, 1e21, 1e-7, 0.1, 5e-324, -Number.MAX_VALUE),
  fc.integer({ min: -3, max: 3 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const scalar = fc.oneof(text, number, fc.boolean(), fc.constant(null))
const name = fc.constantFrom('a', 'b', 'c')
const { value } = fc.letrec<{ value: Json; object: Json }>((tie) => ({
  object: fc.dictionary(fc.oneof(name, fc.constantFrom('a.b', 'a b', '__proto__')), tie('value'), { maxKeys: 4 }),
  value: fc.oneof({ maxDepth: 3 }, scalar, tie('object'), fc.array(scalar, { maxLength: 2 })),
}))
const path = fc.oneof(name, fc.constantFrom('a.b', 'a.a', 'b.c', 'a.b.c', '__proto__'))
const isShort = (found: string | number) => typeof found === 'number' || Buffer.byteLength(found) <= 196
const ordered = fc.oneof(text, number).filter(isShort)
const wanted = fc.oneof(
  scalar,
  fc
    .record(
      {
        $gt: ordered,
        $gte: ordered,
        $lt: ordered,
        $lte: ordered,
        $ne: scalar,
        $in: fc.array(scalar, { maxLength: 3 }),
        $exists: fc.boolean(),
      },
      { requiredKeys: [] },
    )
    .filter((operators) => Object.keys(operators).length > 0),
)
const where = fc.dictionary(path, wanted, { minKeys: 1, maxKeys: 3 })
const negative = fc.dictionary(
  path,
  fc.oneof(
    fc.record({ $ne: scalar }),
    fc.record({ $exists: fc.constant(false) }),
    fc.record({ $ne: scalar, $exists: fc.constant(false) }),
  ),
  { minKeys: 1, maxKeys: 3 },
)

describe('toSortKey', () => {
  test('sort keys of numbers and of strings have the order of the values', () => {
    fc.assert(
      fc.property(fc.oneof(fc.tuple(number, number), fc.tuple(text, text.filter(isShort))), ([left, right]) => {
        const order = Math.sign(Buffer.compare(Buffer.from(toSortKey(left)), Buffer.from(toSortKey(right))))
        expect(order > 0).toBe(matchesConditions(parseWhere({ a: { $gt: right } }), { a: left }))
        expect(order < 0).toBe(matchesConditions(parseWhere({ a: { $lt: right } }), { a: left }))
      }),
      { numRuns: 2000 },
    )
  })

  test('two scalars have the same sort key only if they are equal', () => {
    fc.assert(
      fc.property(scalar, scalar, (left, right) => {
        expect(toSortKey(left) === toSortKey(right)).toBe(left === right)
      }),
      { numRuns: 2000 },
    )
  })

  test('the sort key of a long string is cut, and long strings with different ends have different keys', () => {
    const long = '\u{1F600}'.repeat(100)
    expect(Buffer.byteLength(toSortKey(long))).toBeLessThan(300)
    expect(toSortKey(`${long}a`)).not.toBe(toSortKey(`${long}b`))
  })
})

test('a value with more than 1000 fields is refused', () => {
  const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, n]))
  expect(toRecordFields(fields(MAX_RECORD_FIELDS))).toHaveLength(MAX_RECORD_FIELDS)
  expect(() => toRecordFields(fields(MAX_RECORD_FIELDS + 1))).toThrow('at most 1000 fields')
})

eachStore((kind) => {
  let store: Store
  let remove: () => Promise<void>

  beforeAll(async () => {
    const opened = await emptyStore(kind)
    store = opened.store
    remove = opened.remove
  })
  afterAll(() => remove())

  test('a filter returns exactly the matching records, in pages, newest first', async () => {
    const values = fc.sample(value, { numRuns: 400, seed: 6 })
    const ids = values.map((_, n) => `rec_${String(n).padStart(6, '0')}`)
    await putAll(store, 'things', values)
    await putAll(store, 'others', values.slice(0, 50))
    await fc.assert(
      fc.asyncProperty(fc.oneof(where, negative), fc.constantFrom('things', undefined), async (filter, collection) => {
        const conditions = parseWhere(filter)
        const expected = ids.filter((_, n) => matchesConditions(conditions, values[n] as Json)).toReversed()
        const found = await listAllPages(store, { wedge: 'w', collection, where: conditions })
        expect(found.filter((id) => id.startsWith('rec_0'))).toEqual(expected)
      }),
      { numRuns: 300, seed: 7 },
    )
  })

  test('a filter with only negative conditions returns exactly the matching records', async () => {
    // Few fields and few values, so that some filters match few records and some match none.
    const value = fc.record(
      { a: fc.constantFrom(1, 2), b: fc.constant('x'), c: fc.constant(null) },
      { requiredKeys: ['b'] },
    )
    const values = fc.sample(value, { numRuns: 300, seed: 8 })
    const ids = values.map((_, n) => `rec_plain${String(n).padStart(6, '0')}`)
    await putAll(store, 'plain', values)
    const filters = fc.oneof(
      negative,
      fc.tuple(negative, where).map(([without, other]) => ({ ...other, ...without })),
    )
    await fc.assert(
      fc.asyncProperty(filters, async (filter) => {
        const conditions = parseWhere(filter)
        const expected = ids.filter((_, n) => matchesConditions(conditions, values[n] as Json)).toReversed()
        expect(await listAllPages(store, { wedge: 'w', collection: 'plain', where: conditions })).toEqual(expected)
      }),
      { numRuns: 300, seed: 9 },
    )
  })

  test('a negative filter works on a collection in which each record has different fields', async () => {
    const values = Array.from({ length: 250 }, (_, n) => ({ [`f${n}`]: n, ...(n % 50 === 0 ? {} : { common: true }) }))
    await putAll(store, 'mixed', values)
    const found = await listAllPages(store, { collection: 'mixed', where: parseWhere({ common: { $exists: false } }) })
    expect(found).toEqual([200, 150, 100, 50, 0].map((n) => `rec_mixed${String(n).padStart(6, '0')}`))
  })

  test('a filter uses the new value after a record was replaced', async () => {
    const conditions = parseWhere({ status: 'open' })
    await putAll(store, 'orders', [{ status: 'open' }])
    const list = () => listRecords(store.db, ['p'], { collection: 'orders', where: conditions, limit: 5 })
    const [record] = await list()
    await putAll(store, 'orders', [{ status: 'closed' }])
    expect(await list()).toEqual([])
    await putAll(store, 'orders', [{ status: 'open' }])
    expect((await list())[0]).toMatchObject({ id: record?.id, version: 3 })
  })
})

async function listAllPages(
  store: Store,
  filter: Pick<Parameters<typeof listRecords>[2], 'wedge' | 'collection' | 'where'>,
) {
  const ids: string[] = []
  for (;;) {
    const rows = await listRecords(store.db, ['p', 'q'], { ...filter, limit: 70, cursor: ids.at(-1) })
    ids.push(...rows.slice(0, 70).map((row) => row.id))
    if (rows.length <= 70) return ids
  }
}

async function putAll(store: Store, collection: string, values: Json[]) {
  for (const [n, value] of values.entries()) await putTestRecord(store, { ...rowAt(collection, n), wedge: 'w' }, value)
}

function rowAt(collection: string, n: number) {
  const id = `rec_${collection === 'things' ? '' : collection}${String(n).padStart(6, '0')}`
  return { id, collection, key: String(n) }
}
