import * as fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  COLUMN_COUNT,
  toColumnKey,
  assignColumns,
  listColumns,
  LONG_TEXT_KEYS,
  toBoundKey,
} from '../../../src/records/filter/column-rows.ts'
import { toSortKey } from '../../../src/records/filter/fields.ts'
import { eachStore } from '../../stores.ts'
import { emptyStore } from '../empty-store.ts'

const number = fc.oneof(fc.constantFrom(0, 1, -1, 256, 0.1, 1e21), fc.integer(), fc.double({ noNaN: true }))
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 90 }),
  fc.tuple(fc.integer({ min: 20, max: 50 }), fc.string({ maxLength: 3 })).map(([n, end]) => 'x'.repeat(n) + end),
  fc.integer({ min: 5, max: 11 }).map((n) => '\u{1F600}'.repeat(n)),
)
const order = (left: string, right: string) => Math.sign(Buffer.compare(Buffer.from(left), Buffer.from(right)))

describe('what a column holds', () => {
  test('is equal for equal keys only, and never long', () => {
    const scalar = fc.oneof(number, text, fc.constantFrom(true, false, null))
    fc.assert(
      fc.property(scalar, scalar, (left, right) => {
        const [a, b] = [toSortKey(left), toSortKey(right)]
        expect(toColumnKey(a) === toColumnKey(b)).toBe(a === b)
        expect(Buffer.byteLength(toColumnKey(a))).toBeLessThanOrEqual(28)
      }),
      { numRuns: 3000 },
    )
  })

  test('is smaller or larger than a bound as the key is, or lies apart as a long string', () => {
    fc.assert(
      fc.property(fc.oneof(fc.tuple(number, number), fc.tuple(text, text)), ([found, limit]) => {
        const [a, b] = [toSortKey(found), toSortKey(limit)]
        const held = toColumnKey(a)
        if (held >= LONG_TEXT_KEYS.from && held < LONG_TEXT_KEYS.to) expect(Buffer.byteLength(a)).toBeGreaterThan(28)
        else expect(order(held, toBoundKey(b))).toBe(order(a, b))
      }),
      { numRuns: 3000 },
    )
  })
})

eachStore((kind) => {
  test('writers at once give each path one column and no column two paths, until none is left', async () => {
    const { store, remove } = await emptyStore(kind)
    onTestFinished(remove)
    const fields = (...paths: string[]) => paths.map((path) => ({ path, sortKey: 'z' }))
    const writers = Array.from({ length: 12 }, (_, w) => {
      const own = Array.from({ length: 8 }, (_, f) => `w${w}f${f}`)
      return fields(...(w % 2 === 0 ? ['shared', ...own] : [...own, 'shared']))
    })
    const given = await Promise.all(writers.map((paths) => assignColumns(store, 'shelf', paths)))
    const columns = await listColumns(store.db, 'shelf')
    expect([...columns.values()].toSorted((a, b) => a - b)).toEqual(Array.from({ length: COLUMN_COUNT }, (_, n) => n))
    for (const [w, paths] of writers.entries()) {
      for (const { path } of paths) expect(given[w]?.get(path)).toBe(columns.get(path))
    }
    expect((await assignColumns(store, 'shelf', fields('late'))).get('late')).toBeUndefined()
    expect((await assignColumns(store, 'other', fields('late'))).get('late')).toBe(0)
  })

  test('an object with a key for each thing takes a few columns only', async () => {
    const { store, remove } = await emptyStore(kind)
    onTestFinished(remove)
    const fields = (...paths: string[]) => paths.map((path) => ({ path, sortKey: 'z' }))
    for (let n = 0; n < 5; n++) {
      const things = Array.from({ length: 40 }, (_, t) => `items.sku-${n}-${t}`)
      await assignColumns(store, 'shelf', fields('items', ...things))
    }
    const columns = await assignColumns(store, 'shelf', fields('status', 'total'))
    expect([...columns.keys()].filter((path) => path.startsWith('items.'))).toHaveLength(16)
    expect(columns.has('status') && columns.has('total')).toBe(true)
  })
})
