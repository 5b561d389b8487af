import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Db, Store } from '../../../../src/platform/store/store.ts'
import { readRowsFunctions, type RowsFunction } from './rows-functions.ts'
import { ignoreForeignKeys, openSeededStores, type SeededStores, WORLDS } from './seeded-store.ts'

/** Functions that are called nowhere here, with the reason. */
const NOT_COMPARED: Record<string, string> = {
  lockThreadForRun: 'it does nothing on SQLite, which has one writer',
}

const SRC = fileURLToPath(new URL('../../../../src/', import.meta.url))
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('rows.ts'))
const { functions, columns } = readRowsFunctions(files.toSorted().map((file) => join(SRC, file)))

const stores: SeededStores[] = []
beforeAll(async () => {
  for (const world of WORLDS) stores.push(await openSeededStores(world, columns))
})
afterAll(() => Promise.all(stores.map((one) => one.close())))

interface Call {
  called: RowsFunction
  world: number
  /** Deletes the rows of the tables that the file names, because new rows have the same keys. */
  isEmptied: boolean
}

type Outcome = { returned: unknown; rows: unknown } | 'refused'

const callsOf = (called: RowsFunction): Call[] =>
  WORLDS.flatMap((world) =>
    (called.addsRows ? [false, true] : [false]).map((isEmptied) => ({ called, world, isEmptied })),
  )

class Rollback extends Error {}

/** What a call returns and what it leaves in the tables that its file names. Nothing of it stays in the store. */
async function outcomeOf(store: Store, { called, world, isEmptied }: Call): Promise<Outcome> {
  const module: Record<string, (...args: unknown[]) => unknown> = await import(join(SRC, called.file))
  let outcome: Outcome = 'refused'
  const work = async (db: Db) => {
    if (isEmptied) await deleteRows(db, store.kind, called.tables)
    const returned = await module[called.name]?.(...called.argumentsFor(world, db))
    const rows = []
    for (const table of called.tables) rows.push([table, await readTable(db, table)])
    outcome = { returned, rows }
    throw new Rollback()
  }
  // A wrong argument is refused by both stores, with their own words.
  await store.transact(work).catch(() => {})
  return JSON.parse(JSON.stringify(outcome))
}

async function deleteRows(db: Db, kind: Store['kind'], tables: readonly string[]): Promise<void> {
  await ignoreForeignKeys(db, kind)
  for (const table of tables) await db.deleteFrom(table as 'tasks').execute()
}

const readTable = async (db: Db, table: string): Promise<string[]> => {
  const rows = await db
    .selectFrom(table as 'tasks')
    .selectAll()
    .execute()
  return rows.map((row) => JSON.stringify(row)).toSorted()
}

test.each(functions.filter(({ name }) => !(name in NOT_COMPARED)).map((one) => [one.file, one.name, one] as const))(
  '%s %s does the same on both stores',
  async (_file, _name, called) => {
    let accepted = 0
    for (const call of callsOf(called)) {
      const { sqlite, postgres } = stores[call.world] as SeededStores
      const anyStore = await outcomeOf(sqlite, call)
      expect(await outcomeOf(postgres, call), `world ${call.world}`).toEqual(anyStore)
      if (anyStore !== 'refused') accepted++
    }
    expect(accepted, 'calls that the stores accept').toBeGreaterThan(0)
  },
)

test('every function that is left out exists', () => {
  const names = functions.map(({ name }) => name)
  expect(Object.keys(NOT_COMPARED).filter((name) => !names.includes(name))).toEqual([])
})
