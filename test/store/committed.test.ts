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
})
