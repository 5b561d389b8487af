import { expect, test } from 'vitest'
import { listRecords, type RecordFilter } from '../../src/records/rows.ts'
import { parseWhereQuery } from '../../src/records/view.ts'
import { eachStore } from '../app.ts'
import { emptyStore } from './empty-store.ts'
import { putTestRecord } from './put-test-record.ts'

/** More than the collections that a list merges. */
const MANY_COLLECTIONS = 103

const FILTERS: Omit<RecordFilter, 'limit' | 'where'>[] = [
  {},
  { wedge: 'w0' },
  { wedge: 'none' },
  { collection: 'c1' },
  { collection: 'none' },
  { key: 'k3' },
  { key: 'none' },
  { wedge: 'w1', key: 'k3' },
  { collection: 'c1', key: 'k3' },
  { wedge: 'w0', collection: 'c1' },
  { wedge: 'w0', collection: 'c1', key: 'k4' },
]

const WHERE = ['{}', '{"state":"open"}', '{"state":"none"}', '{"state":{"$ne":"open"}}']

eachStore((store) => {
  test.each([3, MANY_COLLECTIONS])('filters find the same records in %i collections of two wedges', async (count) => {
    const { store: opened, remove } = await emptyStore(store)
    const records = Array.from({ length: 2 * MANY_COLLECTIONS }, (_, n) => ({
      id: `rec_${String(n).padStart(4, '0')}`,
      wedge: `w${n % 2}`,
      collection: `c${n % count}`,
      key: `k${n % 10}`,
      state: n % 3 === 0 ? 'open' : 'done',
    })).filter(
      ({ wedge, collection, key }, n, all) =>
        n === all.findIndex((one) => one.wedge === wedge && one.collection === collection && one.key === key),
    )
    for (const { state, ...recordKey } of records) await putTestRecord(opened, recordKey, { state })
    for (const filter of FILTERS)
      for (const where of WHERE) {
        const expected = records
          .filter(({ wedge, collection, key }) => {
            const row = { wedge, collection, key }
            return Object.entries(filter).every(([name, value]) => row[name as keyof typeof row] === value)
          })
          .filter(
            ({ state }) => where === '{}' || (where.includes('$ne') ? state !== 'open' : where.includes(`"${state}"`)),
          )
          .map(({ id }) => id)
          .toReversed()
        const found: string[] = []
        for (let cursor: string | undefined; ; ) {
          const rows = await listRecords(opened.db, ['p', 'other'], {
            ...filter,
            where: parseWhereQuery(where),
            limit: 7,
            cursor,
          })
          found.push(...rows.slice(0, 7).map(({ id }) => id))
          if (rows.length <= 7) break
          cursor = rows[6]?.id
        }
        expect(found, `${JSON.stringify(filter)} ${where}`).toEqual(expected)
      }
    await remove()
  })
})
