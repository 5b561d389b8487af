import { expect, test } from 'vitest'
import { prepareQuery } from '../../src/store/prepared-query.ts'
import { eachStore, testApp } from '../app.ts'

const put = prepareQuery<{ id: string }>((db, arg) =>
  db
    .insertInto('replicas')
    .values({ id: arg('id'), started_at: '', seen_at: '9' })
    .$castTo<never>(),
)

eachStore((store) => {
  test('what is read beside a transaction is what was committed, before, meanwhile and after', async () => {
    const { ctx } = await testApp({ store })
    const name = async (db = ctx.db) => (await db.selectFrom('projects').select('name').executeTakeFirstOrThrow()).name
    const before = await name()
    const [inside, meanwhile] = await ctx.store.transact(async (db) => {
      await db.updateTable('projects').set({ name: 'renamed' }).execute()
      return [await name(db), await name()]
    })
    expect([inside, meanwhile]).toEqual(['renamed', before])
    expect(await name()).toBe('renamed')
  })

  test('what a transaction that failed had written is never read', async () => {
    const { ctx } = await testApp({ store })
    const slugs = () => ctx.db.selectFrom('projects').select('slug').execute()
    const before = await slugs()
    const failing = ctx.store.transact(async (db) => {
      await db.updateTable('projects').set({ slug: 'gone' }).execute()
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await slugs()).toEqual(before)
  })

  test.each([
    ['are committed together', undefined],
    ['share a lane', 'lane'],
  ])('of many that %s, those that fail take nothing of the others with them', async (_how, lane) => {
    const { ctx } = await testApp({ store })
    const attempt = (id: string, fails: 'never' | 'before' | 'after') =>
      ctx.store.transact(async (db) => {
        if (fails === 'before') throw new Error(id)
        await db.insertInto('replicas').values({ id, started_at: '', seen_at: '9' }).execute()
        if (fails === 'after') throw new Error(id)
        return id
      }, lane)
    const ways = ['never', 'before', 'never', 'after', 'never', 'after', 'before', 'never'] as const
    const settled = await Promise.allSettled(ways.map((fails, i) => attempt(`r${i}`, fails)))
    const stays = ways.flatMap((fails, i) => (fails === 'never' ? [`r${i}`] : []))
    expect(settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))).toEqual(stays)
    expect(settled.flatMap((one) => (one.status === 'rejected' ? [one.reason.message] : []))).toEqual(
      ['r0', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7'].filter((id) => !stays.includes(id)),
    )
    const rows = await ctx.db.selectFrom('replicas').select('id').where('id', 'like', 'r_').orderBy('id').execute()
    expect(rows.map(({ id }) => id)).toEqual(stays)
  })

  test('a write that answers nothing and fails takes its transaction with it, and nothing that comes after', async () => {
    const { ctx } = await testApp({ store })
    const ids = async () =>
      (await ctx.db.selectFrom('replicas').select('id').where('id', 'like', 'w_').orderBy('id').execute()).map(
        ({ id }) => id,
      )
    // Often enough for the store to know the statement by name.
    for (const id of ['w1', 'w2', 'w3', 'w4', 'w5']) await ctx.store.transact((db) => put(db, { id }))
    const twice = async (db: typeof ctx.db) => {
      await put(db, { id: 'w6' })
      await put(db, { id: 'w1' })
      await put(db, { id: 'w7' })
    }
    await expect(ctx.store.transact(twice)).rejects.toThrow(/unique/i)
    await expect(ctx.store.transactDurably(twice)).rejects.toThrow(/unique/i)
    const last = async (db: typeof ctx.db) => {
      await put(db, { id: 'w6' })
      await put(db, { id: 'w1' })
      await db.selectFrom('replicas').select('id').execute()
      return 'never'
    }
    await expect(ctx.store.transact(last)).rejects.toThrow(/unique/i)
    expect(await ids()).toEqual(['w1', 'w2', 'w3', 'w4', 'w5'])
    await Promise.all(['w6', 'w7', 'w8', 'w9'].map((id) => ctx.store.transact((db) => put(db, { id }))))
    expect(await ids()).toEqual(['w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7', 'w8', 'w9'])
  })
})
