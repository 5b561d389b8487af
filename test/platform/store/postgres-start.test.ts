import { expect, onTestFinished, test } from 'vitest'
import { openPostgresStore } from '../../../src/platform/store/postgres/postgres-store.ts'
import { createProxiedDatabase } from '../../faults/tcp-proxy.ts'

/** The first statement of the store after the migrations. */
const FIRST_STATEMENT = 'select 1'

test('a start continues if the connection breaks after the migrations', async () => {
  const { proxy } = await createProxiedDatabase()
  const broken = proxy.cutAt(FIRST_STATEMENT, 'before')
  const store = await openPostgresStore(proxy.url, () => {})
  onTestFinished(() => store.close())
  await broken
  expect(await store.db.selectFrom('tasks').select('id').execute()).toEqual([])
})

test('a start waits until the database is available again after the migrations', async () => {
  const { proxy } = await createProxiedDatabase()
  const broken = proxy.cutAt(FIRST_STATEMENT, 'before')
  let isOpen = false
  const opening = openPostgresStore(proxy.url, () => {}).finally(() => (isOpen = true))
  await broken
  proxy.cut()
  // Longer than a few attempts take.
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  expect(isOpen).toBe(false)
  proxy.heal()
  const store = await opening
  onTestFinished(() => store.close())
  expect(await store.db.selectFrom('tasks').select('id').execute()).toEqual([])
})

test('a start fails with the reason if it cannot connect', async () => {
  const { proxy } = await createProxiedDatabase()
  proxy.cut()
  await expect(openPostgresStore(proxy.url, () => {})).rejects.toThrow(/ECONNRESET|Connection terminated/)
})
