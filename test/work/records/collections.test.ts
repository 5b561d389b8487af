import { expect, test } from 'vitest'
import { listRecords, type RecordFilter } from '../../../src/work/records/rows.ts'
import { parseWhereQuery } from '../../../src/work/records/view.ts'
import type { Db } from '../../../src/platform/store/store.ts'
import { eachStore } from '../../app.ts'
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
  test.each([3, 21, MANY_COLLECTIONS])(
    'filters find the same records in %i collections of two wedges',
    async (count) => {
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
              ({ state }) =>
                where === '{}' || (where.includes('$ne') ? state !== 'open' : where.includes(`"${state}"`)),
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
    },
  )

  test.each([40, 20])('a filter on fields reads few of %i collections of each project at a time', async (count) => {
    const { store: opened, remove } = await emptyStore(store)
    const projects = ['p1', 'p2', 'p3']
    const ids = Array.from({ length: projects.length * count }, (_, n) => `rec_${String(n).padStart(4, '0')}`)
    for (const [n, id] of ids.entries()) {
      const recordKey = { id, wedge: 'w', collection: `c${Math.floor(n / projects.length)}`, key: 'k' }
      await putTestRecord(opened, { ...recordKey, project_id: `p${(n % projects.length) + 1}` }, { state: 'open' })
    }
    const reads = countReads(opened.db)
    const filter = { where: parseWhereQuery('{"state":"open"}'), limit: 7 }
    const found = await listRecords(opened.db, projects, filter)
    expect(found.map(({ id }) => id)).toEqual(ids.slice(-8).toReversed())
    expect(reads.concurrent).toBeLessThanOrEqual(8)
    // More collections than a list merges are not read one by one.
    if (ids.length > 100) expect(reads.all).toBeLessThan(20)
    await remove()
  })
})

/** Counts the statements from now on, and how many of them ran at a time. */
function countReads(db: Db) {
  const executor = db.getExecutor()
  const execute = executor.executeQuery.bind(executor)
  const reads = { all: 0, running: 0, concurrent: 0 }
  executor.executeQuery = async (query) => {
    reads.all++
    reads.concurrent = Math.max(reads.concurrent, ++reads.running)
    return execute(query).finally(() => reads.running--)
  }
  return reads
}
