import { expect, onTestFinished, test } from 'vitest'
import { assignColumns, COLUMN_COUNT, listColumns } from '../../../src/records/filter/column-rows.ts'
import { eachStore } from '../../stores.ts'
import { emptyStore } from '../empty-store.ts'

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
