import { expect, test } from 'vitest'
import { anyStore, testApp } from '../../app.ts'

const DAY = 86_400_000
const CLEANUP_INTERVAL_MS = 10 * 60_000

anyStore((store) => {
  test('idempotency keys and webhook deliveries are removed when they are old, in batches', async () => {
    const app = await testApp({ store })
    // The first round has ended.
    await expect.poll(() => app.clock.hasTimerIn(CLEANUP_INTERVAL_MS)).toBe(true)
    const { db } = app.ctx
    const { id: project_id } = await db.selectFrom('projects').select('id').executeTakeFirstOrThrow()
    const at = (ageMs: number) => new Date(app.clock.now() - ageMs).toISOString()
    const keys = Array.from({ length: 1501 }, (_, n) => ({
      project_id,
      key: `key ${n}`,
      body_hash: '',
      task_id: '',
      created_at: at(n === 0 ? 0 : DAY + n),
    }))
    const deliveries = Array.from({ length: 1501 }, (_, n) => ({
      webhook_id: 'hook_1',
      id: `dlv_${n}`,
      project_id,
      event: 'task.finished',
      subject: '',
      status: 'delivered',
      attempts: 1,
      created_at: at(n === 0 ? 0 : 7 * DAY + n),
    }))
    for (let n = 0; n < keys.length; n += 500) {
      await db
        .insertInto('idempotency_keys')
        .values(keys.slice(n, n + 500))
        .execute()
      await db
        .insertInto('webhook_deliveries')
        .values(deliveries.slice(n, n + 500))
        .execute()
    }
    await app.clock.advance(CLEANUP_INTERVAL_MS)
    await expect.poll(() => db.selectFrom('idempotency_keys').select('key').execute()).toEqual([{ key: 'key 0' }])
    await expect.poll(() => db.selectFrom('webhook_deliveries').select('id').execute()).toEqual([{ id: 'dlv_0' }])
  })
})
