import { expect, test } from 'vitest'
import { prepareQuery } from '../../../src/platform/store/prepared-query.ts'
import { eachStore, testApp } from '../../app.ts'

const insertReplica = prepareQuery<{ id: string }>((db, arg) =>
  db
    .insertInto('replicas')
    .values({ id: arg('id'), started_at: '', seen_at: '9' })
    .$castTo<never>(),
)

eachStore((store) => {
  test('a read outside a transaction returns only committed rows, before, during and after the transaction', async () => {
    const { ctx } = await testApp({ store })
    const readName = async (db = ctx.db) =>
      (await db.selectFrom('projects').select('name').executeTakeFirstOrThrow()).name
    const before = await readName()
    const [inside, outside, listed] = await ctx.store.transact(async (db) => {
      await db.updateTable('projects').set({ name: 'renamed' }).execute()
      return [await readName(db), await readName(), await readName(ctx.store.lists)]
    })
    expect([inside, outside, listed]).toEqual(['renamed', before, before])
    expect(await readName()).toBe('renamed')
    expect(await readName(ctx.store.lists)).toBe('renamed')
  })

  test('no read returns what a failed transaction has written', async () => {
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
    ['without a group', undefined],
    ['of one group', 'group'],
  ])('concurrent transactions %s: a failed transaction does not affect the others', async (_name, group) => {
    const { ctx } = await testApp({ store })
    const attempt = (id: string, fails: 'never' | 'before' | 'after') =>
      ctx.store.transact(async (db) => {
        if (fails === 'before') throw new Error(id)
        await db.insertInto('replicas').values({ id, started_at: '', seen_at: '9' }).execute()
        if (fails === 'after') throw new Error(id)
        return id
      }, group)
    const failures = ['never', 'before', 'never', 'after', 'never', 'after', 'before', 'never'] as const
    const settled = await Promise.allSettled(failures.map((fails, i) => attempt(`r${i}`, fails)))
    const committed = failures.flatMap((fails, i) => (fails === 'never' ? [`r${i}`] : []))
    expect(settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))).toEqual(committed)
    expect(settled.flatMap((one) => (one.status === 'rejected' ? [one.reason.message] : []))).toEqual(
      ['r0', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7'].filter((id) => !committed.includes(id)),
    )
    const rows = await ctx.db.selectFrom('replicas').select('id').where('id', 'like', 'r_').orderBy('id').execute()
    expect(rows.map(({ id }) => id)).toEqual(committed)
  })

  test('a failed write without a result rolls back its transaction and does not affect later ones', async () => {
    const { ctx } = await testApp({ store })
    const listIds = async () =>
      (await ctx.db.selectFrom('replicas').select('id').where('id', 'like', 'w_').orderBy('id').execute()).map(
        ({ id }) => id,
      )
    // The store has prepared the statement when the first transaction fails.
    for (const id of ['w1', 'w2', 'w3', 'w4', 'w5']) await ctx.store.transact((db) => insertReplica(db, { id }))
    const duplicateAtCommit = async (db: typeof ctx.db) => {
      await insertReplica(db, { id: 'w6' })
      await insertReplica(db, { id: 'w1' })
      await insertReplica(db, { id: 'w7' })
    }
    await expect(ctx.store.transact(duplicateAtCommit)).rejects.toThrow(/unique/i)
    await expect(ctx.store.transactDurably(duplicateAtCommit)).rejects.toThrow(/unique/i)
    const duplicateBeforeRead = async (db: typeof ctx.db) => {
      await insertReplica(db, { id: 'w6' })
      await insertReplica(db, { id: 'w1' })
      await db.selectFrom('replicas').select('id').execute()
      return 'never'
    }
    await expect(ctx.store.transact(duplicateBeforeRead)).rejects.toThrow(/unique/i)
    expect(await listIds()).toEqual(['w1', 'w2', 'w3', 'w4', 'w5'])
    await Promise.all(['w6', 'w7', 'w8', 'w9'].map((id) => ctx.store.transact((db) => insertReplica(db, { id }))))
    expect(await listIds()).toEqual(['w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7', 'w8', 'w9'])
  })
})
