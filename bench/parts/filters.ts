import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { createId } from '../../src/platform/base/ids.ts'
import { createRandomPool } from '../../src/platform/ctx/system-world.ts'
import { toRecordFields } from '../../src/work/records/filter/fields.ts'
import { insertRecordFields } from '../../src/work/records/filter/field-rows.ts'
import { upsertRecord } from '../../src/work/records/rows.ts'
import { openPostgresStore } from '../../src/platform/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../../src/platform/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/platform/store/store.ts'
import { goalRow, type ResultRow } from '../results.ts'
import type { Rig, Server } from '../rig.ts'

const RECORDS = 100_000
const PAGE = 500
const ROUNDS = 15

const ORDINARY_GOAL_MS = 50
const BROAD_GOAL_MS = 200

/** One to three conditions, of which at least one selects less than a tenth of the records. */
const ORDINARY_FILTERS: Record<string, object> = {
  'a customer and a range': { customer: 'c42', amount: { $gte: 10 } },
  'a tenth by a range': { amount: { $gte: 900 }, paid: true, state: 'new' },
}

const BROAD_FILTERS: Record<string, object> = {
  'many records': { paid: true, amount: { $gte: 10 } },
  'absent values': { state: { $ne: 'done' }, sent: { $exists: false } },
  'two halves that share one record': { paid: true, due: true },
  'three conditions that no record meets': { t0: 1, t1: 1, t2: 1 },
  'ten conditions that one record meets': { ...conditionsForAll(8), paid: true, due: true },
}

/** Conditions that every record meets. */
function conditionsForAll(count: number): Record<string, object> {
  return Object.fromEntries(Array.from({ length: count }, (_, t) => [`t${t}`, { $gte: 0 }]))
}

const valueOf = (n: number) => ({
  customer: `c${n % 5000}`,
  amount: n % 1000,
  paid: n % 2 === 0 || n === 5,
  due: n % 2 === 1,
  state: n === 5 ? 'new' : 'done',
  note: `A note on record ${n} that is rather longer than what a column holds of it`,
  ...Object.fromEntries(Array.from({ length: 12 }, (_, t) => [`t${t}`, n % 3 === t % 3 ? 0 : 1])),
})

export async function measureFilters(rig: Rig): Promise<ResultRow[]> {
  return [...(await measureStore(rig, 'sqlite')), ...(await measureStore(rig, 'postgres'))]
}

async function measureStore(rig: Rig, kind: Store['kind']): Promise<ResultRow[]> {
  const dir = mkdtempSync(join(rig.dir, 'data-'))
  const database = kind === 'postgres' ? await rig.database() : ''
  const start = () => (kind === 'postgres' ? rig.service({ DATABASE_URL: database }) : rig.service({}, dir))
  // The first start creates the schema and the project.
  await rig.stop(await start())
  const store = kind === 'postgres' ? await openPostgresStore(database, () => {}) : await openSqliteStore(dir, 'normal')
  await storeRecords(store)
  await store.close()
  const service = await start()
  const rows: ResultRow[] = []
  for (const [filters, max] of [
    [ORDINARY_FILTERS, ORDINARY_GOAL_MS],
    [BROAD_FILTERS, BROAD_GOAL_MS],
  ] as const) {
    for (const [name, where] of Object.entries(filters)) {
      const times = await measureFilter(service, where)
      rows.push(goalRow(`filter for ${name}, ${kind}`, 'ms', { service: times, bare: [] }, { max }))
    }
  }
  await rig.stop(service)
  return rows
}

async function storeRecords(store: Store): Promise<void> {
  const project_id = (await store.db.selectFrom('projects').select('id').executeTakeFirstOrThrow()).id
  const collection = { project_id, wedge: 'bench', collection: 'invoices' }
  const random = createRandomPool()
  const start = Date.now() - RECORDS
  for (let from = 0; from < RECORDS; from += PAGE) {
    await store.transact(async (db) => {
      for (let n = from; n < from + PAGE; n++) {
        const at = new Date(start + n).toISOString()
        const row = {
          ...collection,
          id: createId('rec', start + n, random),
          key: `k${n}`,
          created_at: at,
          updated_at: at,
        }
        const [record] = await upsertRecord(db, { ...row, value: JSON.stringify(valueOf(n)) })
        if (record) await insertRecordFields(db, record, toRecordFields(valueOf(n)))
      }
    })
  }
}

async function measureFilter({ port, key }: Server, where: object): Promise<number[]> {
  const query = String(new URLSearchParams({ collection: 'invoices', where: JSON.stringify(where) }))
  const times: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const start = performance.now()
    const response = await fetch(`http://127.0.0.1:${port}/v1/records?${query}`, {
      headers: { authorization: `Bearer ${key}` },
    })
    await response.text()
    if (response.status !== 200) throw new Error(`a filter returned status ${response.status}`)
    times.push(performance.now() - start)
  }
  return times.slice(1)
}
