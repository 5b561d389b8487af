import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { StoreUnavailable } from '../../../src/platform/store/errors.ts'
import { prepareQuery } from '../../../src/platform/store/prepared-query.ts'
import { eachStore, testApp } from '../../app.ts'
import { proxiedStore } from './proxied-store.ts'

const findReplica = prepareQuery<{ id: string }, { id: string }>((db, arg) =>
  db.selectFrom('replicas').select('id').where('id', '=', arg('id')),
)
const castToNumber = prepareQuery<{ text: string }, { n: number }>((db, arg) =>
  db.selectNoFrom(sql<number>`cast(${arg('text')} as bigint)`.as('n')),
)
const IDS = Array.from({ length: 40 }, (_, n) => `r${n}`)

eachStore((store) => {
  test('each of many concurrent reads gets its own result, on the first call and later', async () => {
    const { ctx } = await testApp({ store })
    const rows = IDS.map((id) => ({ id, started_at: '', seen_at: '9' }))
    await ctx.store.transact((db) => db.insertInto('replicas').values(rows).execute())
    for (let round = 0; round < 6; round++) {
      const reads = IDS.flatMap((id, n) => [findReplica(ctx.db, { id }), castToNumber(ctx.db, { text: String(n) })])
      const expected = IDS.flatMap((id, n) => [[{ id }], [{ n }]])
      expect(await Promise.all(reads)).toEqual(expected)
      expect(await findReplica(ctx.db, { id: 'absent' })).toEqual([])
    }
  })
})

test('PostgreSQL: a read that fails does not affect the others', async () => {
  const { ctx } = await testApp({ store: 'postgres' })
  const texts = ['1', 'two', '3', 'four', '5']
  for (let round = 0; round < 6; round++) {
    const settled = await Promise.allSettled(texts.map((text) => castToNumber(ctx.db, { text })))
    expect(settled.map((one) => (one.status === 'fulfilled' ? one.value[0]?.n : 'failed'))).toEqual([
      1,
      'failed',
      3,
      'failed',
      5,
    ])
  }
})

test('PostgreSQL: when a connection breaks, the read on it fails as unavailable, and other and later reads succeed', async () => {
  const { store, proxy } = await proxiedStore()
  const broken = proxy.cutAt('replicas', 'before')
  const settled = await Promise.allSettled(IDS.slice(0, 3).map((id) => findReplica(store.db, { id })))
  await broken
  const errors = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  expect(errors).toEqual([expect.any(StoreUnavailable)])
  expect(await findReplica(store.db, { id: 'absent' })).toEqual([])
})
