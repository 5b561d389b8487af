import { expect, onTestFinished, test } from 'vitest'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { TcpProxy } from '../faults/tcp-proxy.ts'
import { createDatabase, dropDatabase } from '../postgres.ts'

async function wire(): Promise<TcpProxy> {
  const database = await createDatabase()
  onTestFinished(() => dropDatabase(database))
  const proxy = await TcpProxy.openFor(database)
  onTestFinished(() => proxy.close())
  return proxy
}

/** What the store asks first, behind the migrations. */
const FIRST = 'select 1'

test('a start goes on when the database that had its migrations is away for a moment', async () => {
  const proxy = await wire()
  const lost = proxy.cutAt(FIRST, 'before')
  const store = await openPostgresStore(proxy.url, () => {})
  onTestFinished(() => store.close())
  await lost
  expect(await store.db.selectFrom('tasks').select('id').execute()).toEqual([])
})

test('a start waits for it, however long it takes to come back', async () => {
  const proxy = await wire()
  const lost = proxy.cutAt(FIRST, 'before')
  let isOpen = false
  const opening = openPostgresStore(proxy.url, () => {}).finally(() => (isOpen = true))
  await lost
  proxy.cut()
  // Longer than a few tries take.
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  expect(isOpen).toBe(false)
  proxy.heal()
  const store = await opening
  onTestFinished(() => store.close())
  expect(await store.db.selectFrom('tasks').select('id').execute()).toEqual([])
})

test('a start that finds no database ends with the reason', async () => {
  const proxy = await wire()
  proxy.cut()
  await expect(openPostgresStore(proxy.url, () => {})).rejects.toThrow(/ECONNRESET|Connection terminated/)
})
