import { join } from 'node:path'
import { expect, test } from 'vitest'
import { prepareQuery } from '../../src/store/prepared-query.ts'
import { cachedRead } from '../../src/store/cached-read.ts'
import { loadSqlite } from '../../src/store/sqlite/driver/load-sqlite.ts'
import { eachStore, testApp } from '../app.ts'
import { eventually } from '../runs/scripted-agent.ts'

const name = prepareQuery<{ slug: string }, { name: string }>((db, arg) =>
  db.selectFrom('projects').select('name').where('slug', '=', arg('slug')),
)

/** The read, and how often it went to the store. */
function counted() {
  let asked = 0
  const read = cachedRead(['projects'], (db, args: { slug: string }) => {
    asked++
    return name(db, args)
  })
  return { read, asked: () => asked }
}

eachStore((store) => {
  test('what is remembered is what is committed: before a change, while it is made, and after it', async () => {
    const { ctx } = await testApp({ store })
    const { slug, name: before } = await ctx.db.selectFrom('projects').selectAll().executeTakeFirstOrThrow()
    const { read } = counted()
    const look = async (db = ctx.db) => (await read(db, { slug }))[0]?.name
    expect([await look(), await look()]).toEqual([before, before])
    const seen = await ctx.store.transact(async (db) => {
      await db.updateTable('projects').set({ name: 'second' }).execute()
      return [await look(db), await look()]
    })
    expect(seen).toEqual(['second', before])
    expect([await look(), await look()]).toEqual(['second', 'second'])
    const failing = ctx.store.transact(async (db) => {
      await db.updateTable('projects').set({ name: 'third' }).execute()
      await look()
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await look()).toBe('second')
    await ctx.store.transact((db) => db.updateTable('projects').set({ slug: 'elsewhere' }).execute())
    expect(await look()).toBeUndefined()
  })

  test('what was not there is looked for again', async () => {
    const { ctx } = await testApp({ store })
    const { read, asked } = counted()
    for (const _ of [1, 2]) expect(await read(ctx.db, { slug: 'nowhere' })).toEqual([])
    expect(asked()).toBe(2)
  })
})

test('on SQLite a second look costs none, and other tables may change meanwhile', async () => {
  const { ctx } = await testApp({ store: 'sqlite' })
  const { slug } = await ctx.db.selectFrom('projects').selectAll().executeTakeFirstOrThrow()
  const { read, asked } = counted()
  await read(ctx.db, { slug })
  await ctx.store.transact((db) =>
    db.insertInto('replicas').values({ id: 'r', started_at: '', seen_at: '9' }).execute(),
  )
  await read(ctx.db, { slug })
  expect(asked()).toBe(1)
})

test('what somebody changes in the file of SQLite by hand is seen soon', async () => {
  const { ctx } = await testApp({ store: 'sqlite' })
  const { slug } = await ctx.db.selectFrom('projects').selectAll().executeTakeFirstOrThrow()
  const { read } = counted()
  await read(ctx.db, { slug })
  const { DatabaseSync } = loadSqlite()
  const byHand = new DatabaseSync(join(ctx.config.dataDir, 'svc.db'))
  byHand.exec(`update projects set name = 'by hand'`)
  byHand.close()
  await eventually(async () => (await read(ctx.db, { slug }))[0]?.name === 'by hand')
})
