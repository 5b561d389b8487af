import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { StoreUnavailable } from '../../src/store/errors.ts'
import { prepareBatchedRead } from '../../src/store/prepared-query.ts'
import { eachStore, testApp } from '../app.ts'
import { eventually } from '../runs/scripted-agent.ts'
import { proxiedStore } from './proxied-store.ts'

const replica = prepareBatchedRead<{ id: string }, { id: string }>((db, arg) =>
  db.selectFrom('replicas').select('id').where('id', '=', arg('id')),
)
const whole = prepareBatchedRead<{ text: string }, { n: number }>((db, arg) =>
  db.selectNoFrom(sql<number>`cast(${arg('text')} as bigint)`.as('n')),
)
const IDS = Array.from({ length: 40 }, (_, n) => `r${n}`)

eachStore((store) => {
  test('of many reads in one moment each has its own answer, the first time and later', async () => {
    const { ctx } = await testApp({ store })
    const rows = IDS.map((id) => ({ id, started_at: '', seen_at: '9' }))
    await ctx.store.transact((db) => db.insertInto('replicas').values(rows).execute())
    for (let round = 0; round < 6; round++) {
      const asked = IDS.flatMap((id, n) => [replica(ctx.db, { id }), whole(ctx.db, { text: String(n) })])
      const expected = IDS.flatMap((id, n) => [[{ id }], [{ n }]])
      expect(await Promise.all(asked)).toEqual(expected)
      expect(await replica(ctx.db, { id: 'nobody' })).toEqual([])
    }
  })
})

test('one that PostgreSQL refuses takes no other with it', async () => {
  const { ctx } = await testApp({ store: 'postgres' })
  const texts = ['1', 'two', '3', 'four', '5']
  for (let round = 0; round < 6; round++) {
    const settled = await Promise.allSettled(texts.map((text) => whole(ctx.db, { text })))
    expect(settled.map((one) => (one.status === 'fulfilled' ? one.value[0]?.n : 'refused'))).toEqual([
      1,
      'refused',
      3,
      'refused',
      5,
    ])
  }
})

test('when the wire is cut all who wait hear that the store is away, and later reads are answered', async () => {
  const { store, proxy } = await proxiedStore()
  await replica(store.db, { id: 'nobody' })
  const happened = proxy.cutAt('replicas', 'before')
  const settled = await Promise.allSettled(IDS.slice(0, 3).map((id) => replica(store.db, { id })))
  await happened
  expect(settled.map((one) => one.status === 'rejected' && one.reason instanceof StoreUnavailable)).toEqual([
    true,
    true,
    true,
  ])
  proxy.heal()
  await eventually(async () => (await replica(store.db, { id: 'nobody' }).catch(() => null)) !== null)
})
