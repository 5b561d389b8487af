import { expect, test } from 'vitest'
import { openLease, renewLease } from '../../src/runs/leases.ts'
import { beat } from '../../src/runs/rows.ts'
import type { Store } from '../../src/store/store.ts'
import { eachStore, testApp } from '../app.ts'

const NEVER = new AbortController().signal

eachStore((store) => {
  test('a renewal that gets no answer is given up, and the next one follows at once', async () => {
    const { ctx } = await testApp({ store, env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
    let asked = 0
    const swallowing: Store = {
      ...ctx.store,
      transact: (work, lane) => (asked++ === 0 ? new Promise(() => {}) : ctx.store.transact(work, lane)),
    }
    const lease = openLease(ctx)
    const { renewed } = lease
    await renewLease({ ...ctx, store: swallowing }, lease, NEVER)
    expect(asked).toBe(2)
    expect(lease.renewed).toBeGreaterThan(renewed)
  })

  test('after the clock was set back a replica is seen by the new time, so that its end is noticed soon', async () => {
    const { ctx } = await testApp({ store, env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
    const told = (seen_at: string) =>
      ctx.store.transact((db) => beat(db, { id: 'rep_back', started_at: '2026-03-02T09:00:00.000Z', seen_at }))
    await told('2026-03-02T09:00:09.000Z')
    await told('2026-03-02T08:00:10.000Z')
    const row = await ctx.db.selectFrom('replicas').select('seen_at').where('id', '=', 'rep_back').executeTakeFirst()
    expect(row?.seen_at).toBe('2026-03-02T08:00:10.000Z')
  })
})
