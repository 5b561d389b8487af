import { expect, onTestFinished, test } from 'vitest'
import { assignColumns, COLUMN_COUNT, listColumns } from '../../../../src/work/records/filter/column-rows.ts'
import { eachStore } from '../../../stores.ts'
import { emptyStore } from '../empty-store.ts'

eachStore((kind) => {
  test('concurrent writers give each path one column and each column one path, until all columns are used', async () => {
    const { store, remove } = await emptyStore(kind)
    onTestFinished(remove)
    const fields = (...paths: string[]) => paths.map((path) => ({ path, sortKey: 'z' }))
    const writers = Array.from({ length: 12 }, (_, w) => {
      const own = Array.from({ length: 8 }, (_, f) => `w${w}f${f}`)
      return fields(...(w % 2 === 0 ? ['shared', ...own] : [...own, 'shared']))
    })
    const assigned = await Promise.all(writers.map((paths) => assignColumns(store, 'collection', paths)))
    const columns = await listColumns(store.db, 'collection')
    expect([...columns.values()].toSorted((a, b) => a - b)).toEqual(Array.from({ length: COLUMN_COUNT }, (_, n) => n))
    for (const [w, paths] of writers.entries()) {
      for (const { path } of paths) expect(assigned[w]?.get(path)).toBe(columns.get(path))
    }
    expect((await assignColumns(store, 'collection', fields('additional'))).get('additional')).toBeUndefined()
    expect((await assignColumns(store, 'other collection', fields('additional'))).get('additional')).toBe(0)
  })

  test('an object with many keys gets at most 16 columns', async () => {
    const { store, remove } = await emptyStore(kind)
    onTestFinished(remove)
    const fields = (...paths: string[]) => paths.map((path) => ({ path, sortKey: 'z' }))
    for (let n = 0; n < 5; n++) {
      const items = Array.from({ length: 40 }, (_, t) => `items.sku-${n}-${t}`)
      await assignColumns(store, 'collection', fields('items', ...items))
    }
    const columns = await assignColumns(store, 'collection', fields('status', 'total'))
    expect([...columns.keys()].filter((path) => path.startsWith('items.'))).toHaveLength(16)
    expect(columns.has('status') && columns.has('total')).toBe(true)
  })
})
