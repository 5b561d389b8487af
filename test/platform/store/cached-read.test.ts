import { join } from 'node:path'
import { expect, test } from 'vitest'
import { prepareQuery } from '../../../src/platform/store/prepared-query.ts'
import { cachedRead } from '../../../src/platform/store/cached-read.ts'
import { loadSqlite } from '../../../src/platform/store/sqlite/load-sqlite/load-sqlite.ts'
import { eachStore, testApp } from '../../app.ts'
import { eventually } from '../../execution/runs/scripted-agent.ts'

const findProjectName = prepareQuery<{ slug: string }, { name: string }>((db, arg) =>
  db.selectFrom('projects').select('name').where('slug', '=', arg('slug')),
)

/** A cached read of a project's name, and how often it read from the store. */
function countedRead() {
  let count = 0
  const read = cachedRead(['projects'], (db, args: { slug: string }) => {
    count++
    return findProjectName(db, args)
  })
  return { read, readCount: () => count }
}

eachStore((store) => {
  test('a cached read returns committed rows before, during and after a transaction', async () => {
    const { ctx } = await testApp({ store })
    const { slug, name: before } = await ctx.db.selectFrom('projects').selectAll().executeTakeFirstOrThrow()
    const { read } = countedRead()
    const readName = async (db = ctx.db) => (await read(db, { slug }))[0]?.name
    expect([await readName(), await readName()]).toEqual([before, before])
    const seen = await ctx.store.transact(async (db) => {
      await db.updateTable('projects').set({ name: 'second' }).execute()
      return [await readName(db), await readName()]
    })
    expect(seen).toEqual(['second', before])
    expect([await readName(), await readName()]).toEqual(['second', 'second'])
    const failing = ctx.store.transact(async (db) => {
      await db.updateTable('projects').set({ name: 'third' }).execute()
      await readName()
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await readName()).toBe('second')
    await ctx.store.transact((db) => db.updateTable('projects').set({ slug: 'elsewhere' }).execute())
    expect(await readName()).toBeUndefined()
  })

  test('a cached read without a result reads the store again', async () => {
    const { ctx } = await testApp({ store })
    const { read, readCount } = countedRead()
    for (const _ of [1, 2]) expect(await read(ctx.db, { slug: 'nowhere' })).toEqual([])
    expect(readCount()).toBe(2)
  })
})

test('SQLite: a second read comes from the cache, also after a write to another table', async () => {
  const { ctx } = await testApp({ store: 'sqlite' })
  const { slug } = await ctx.db.selectFrom('projects').selectAll().executeTakeFirstOrThrow()
  const { read, readCount } = countedRead()
  await read(ctx.db, { slug })
  await ctx.store.transact((db) =>
    db.insertInto('replicas').values({ id: 'r', started_at: '', seen_at: '9' }).execute(),
  )
  await read(ctx.db, { slug })
  expect(readCount()).toBe(1)
})

test('SQLite: a change by another process invalidates the cache', async () => {
  const { ctx } = await testApp({ store: 'sqlite' })
  const { slug } = await ctx.db.selectFrom('projects').selectAll().executeTakeFirstOrThrow()
  const { read } = countedRead()
  await read(ctx.db, { slug })
  const { DatabaseSync } = loadSqlite()
  const otherProcess = new DatabaseSync(join(ctx.config.dataDir, 'svc.db'))
  otherProcess.exec(`update projects set name = 'changed'`)
  otherProcess.close()
  await eventually(async () => (await read(ctx.db, { slug }))[0]?.name === 'changed')
})
