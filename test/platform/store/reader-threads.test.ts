import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { programsFolder } from '../../../src/platform/config/programs-folder.ts'
import { StoreUnavailable } from '../../../src/platform/store/errors.ts'
import type { ReaderFile } from '../../../src/platform/store/sqlite/reader-connection.ts'
import { ReaderThreads } from '../../../src/platform/store/sqlite/reader-threads.ts'
import { createDrivenKysely } from '../../../src/platform/store/sqlite/sqlite-kysely.ts'
import { openSqliteStore } from '../../../src/platform/store/sqlite/sqlite-store.ts'
import type { Db, Store } from '../../../src/platform/store/store.ts'
import { eachStore, testApp } from '../../app.ts'

/** Takes hundreds of milliseconds on either store. */
const slowRead = sql<{ n: number }>`with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000)
  select count(*) as n from n`
const listProjectIds = (db: Db) => db.selectFrom('projects').select('id').execute()

async function openStore(): Promise<{ store: Store; dir: string }> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-readers-'))
  const store = await openSqliteStore(dir, 'normal')
  onTestFinished(async () => {
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })
  return { store, dir }
}

function openLists(dir: string, file: Partial<ReaderFile>, idleMs?: number) {
  const program = join(programsFolder(), 'reader-thread.cjs')
  const threads = new ReaderThreads({ program, path: join(dir, 'svc.db'), sync: 'normal', ...file }, idleMs)
  const lists = createDrivenKysely(threads)
  onTestFinished(() => lists.destroy())
  return { lists, threads }
}

eachStore((store) => {
  test('other requests and the lists of others are answered while a slow list is read', async () => {
    const app = await testApp({ store })
    const { lists } = app.ctx.store
    await lists.selectFrom('projects').select('id').execute()
    const state = { isRunning: true }
    const slow = Promise.all([slowRead.execute(lists), slowRead.execute(lists)]).finally(
      () => (state.isRunning = false),
    )
    const turns: number[] = []
    for (let last = performance.now(); state.isRunning; last = performance.now()) {
      expect((await app.call('GET', '/livez')).status).toBe(200)
      turns.push(performance.now() - last)
      if (turns.length === 1) expect((await app.call('GET', '/v1/tasks')).status).toBe(200)
    }
    expect(turns.length).toBeGreaterThan(20)
    expect((await slow).map(({ rows }) => rows)).toEqual([[{ n: 1_000_000 }], [{ n: 1_000_000 }]])
  })

  test('lists see what was committed before them, and change nothing', async () => {
    const { ctx } = await testApp({ store })
    const rename = (name: string) =>
      ctx.store.transact(async (db) => void (await db.updateTable('projects').set({ name }).execute()))
    for (const name of ['one', 'two', 'three']) {
      await rename(name)
      expect(await ctx.store.lists.selectFrom('projects').select('name').distinct().execute()).toEqual([{ name }])
    }
    await expect(sql`select no_such_column from projects`.execute(ctx.store.lists)).rejects.toThrow('no_such_column')
  })
})

test('SQLite: a value of a list has the type that it has elsewhere', async () => {
  const { store } = await openStore()
  const types = sql`select 1 as whole, 1.5 as broken, 'text' as text, null as empty, 9007199254740991 as large,
    ${'ü\u0000'} as bound, ${2} as number`
  expect((await types.execute(store.lists)).rows).toEqual((await types.execute(store.db)).rows)
})

test('SQLite: a list cannot write', async () => {
  const { store } = await openStore()
  const remove = store.lists.deleteFrom('projects').execute()
  await expect(remove).rejects.toThrow(StoreUnavailable)
  await expect(listProjectIds(store.db)).resolves.toEqual([])
})

test('SQLite: closing the store lets running reads end and refuses those that wait', async () => {
  const { store } = await openStore()
  await listProjectIds(store.lists)
  const running = slowRead.execute(store.lists)
  // Until the thread has the statement.
  await new Promise((resolve) => setTimeout(resolve, 10))
  const waiting = listProjectIds(store.lists).catch((error) => error.message)
  await store.close()
  expect((await running).rows).toEqual([{ n: 1_000_000 }])
  expect(await waiting).toBe('the store is closed')
  await expect(listProjectIds(store.lists)).rejects.toThrow()
})

test('SQLite: a thread that ends fails its reads as unavailable, and the next read gets another thread', async () => {
  const { dir } = await openStore()
  const program = join(dir, 'program.cjs')
  writeFileSync(
    program,
    `require('node:worker_threads').parentPort.on('message', (request) => {
    if (request === null || request.sql.includes('fatal')) process.exit()
    require('node:worker_threads').parentPort.postMessage({ rows: [request.sql] })
  })`,
  )
  const { lists } = openLists(dir, { program })
  const [first, fatal] = await Promise.allSettled([sql`first`, sql`fatal`].map((query) => query.execute(lists)))
  expect(first).toMatchObject({ value: { rows: ['first'] } })
  expect(fatal).toMatchObject({ reason: expect.any(StoreUnavailable) })
  expect((await sql`third`.execute(lists)).rows).toEqual(['third'])
})

test('SQLite: a thread that cannot open the file fails the reads as unavailable', async () => {
  const { dir } = await openStore()
  const { lists } = openLists(dir, { path: join(dir, 'absent', 'svc.db') })
  await expect(listProjectIds(lists)).rejects.toThrow(StoreUnavailable)
})

test('SQLite: a thread that was idle for long ends, and the next read starts one', async () => {
  const { dir } = await openStore()
  const { lists, threads } = openLists(dir, {}, 50)
  expect(threads.size).toBe(0)
  const reads = Promise.all([1, 2, 3, 4, 5].map(() => slowRead.execute(lists)))
  await expect.poll(() => threads.size, { interval: 5 }).toBe(3)
  await reads
  await expect.poll(() => threads.size).toBe(0)
  expect(await listProjectIds(lists)).toEqual([])
})
