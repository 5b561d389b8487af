import { expect, test } from 'vitest'
import { eachStore, testApp } from '../app.ts'

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

  test('of many that are committed together, those that fail take nothing of the others with them', async () => {
    const { ctx } = await testApp({ store })
    const put = (id: string, fails: 'never' | 'before' | 'after') =>
      ctx.store.transact(async (db) => {
        if (fails === 'before') throw new Error(id)
        await db.insertInto('replicas').values({ id, started_at: '', seen_at: '' }).execute()
        if (fails === 'after') throw new Error(id)
        return id
      })
    const ways = ['never', 'before', 'never', 'after', 'never', 'after', 'before', 'never'] as const
    const settled = await Promise.allSettled(ways.map((fails, i) => put(`r${i}`, fails)))
    const stays = ways.flatMap((fails, i) => (fails === 'never' ? [`r${i}`] : []))
    expect(settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))).toEqual(stays)
    expect(settled.flatMap((one) => (one.status === 'rejected' ? [one.reason.message] : []))).toEqual(
      ['r0', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7'].filter((id) => !stays.includes(id)),
    )
    const rows = await ctx.db.selectFrom('replicas').select('id').where('id', 'like', 'r_').orderBy('id').execute()
    expect(rows.map(({ id }) => id)).toEqual(stays)
  })
})
