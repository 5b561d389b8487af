import { expect, test } from 'vitest'
import { type GatedApp, requestedApprovalId, sharedGatedApp, startAction } from './gated-app.ts'

const ROWS = 50_010
const BATCH = 500

// One store is enough: a query on SQLite blocks the event loop, and one on PostgreSQL does not.
const shared = sharedGatedApp('sqlite')

test('a history of 50,010 approvals: the newest 50,000 are read, and other requests are answered meanwhile', async () => {
  const app = shared()
  await insertCopies(app)
  let answered = 0
  const state = { isRead: false }
  const reading = app.call('GET', '/v1/wedges/gate/suggestions').finally(() => {
    state.isRead = true
  })
  while (!state.isRead) {
    expect((await app.call('GET', '/v1/projects')).status).toBe(200)
    if (!state.isRead) answered++
  }
  const { status, body } = await reading
  expect(status).toBe(200)
  expect(body).toMatchObject({ checked: 50_000, is_capped: true })
  // The oldest requests, which were not read, have the highest amounts.
  expect(body.suggestions).toMatchObject([{ rule: { max_amount_usd: 10 }, would_pass: { count: 50_000 } }])
  expect(answered).toBeGreaterThan(10)
})

/** Stores the approval of one task many times, with ids in the order of their age. */
async function insertCopies(app: GatedApp): Promise<void> {
  const task = await startAction(app, { action: 'pay', payload: { amount: 1 } })
  const id = await requestedApprovalId(app, task.id)
  await app.call('POST', `/v1/approvals/${id}/approve`)
  await app.finished(task.id)
  await app.ctx.store.transact(async (db) => {
    const [row] = await db.selectFrom('approvals').selectAll().where('id', '=', id).execute()
    if (!row) throw new Error('no approval')
    for (let from = 1; from < ROWS; from += BATCH) {
      const copies = Array.from({ length: Math.min(BATCH, ROWS - from) }, (_, i) => ({
        ...row,
        // Older than the first one, because every digit is lower than its letters.
        id: `apr_0${String(ROWS - from - i).padStart(25, '0')}`,
        payload: JSON.stringify({ amount: from + i < 50_000 ? 10 : 99 }),
      }))
      await db.insertInto('approvals').values(copies).execute()
    }
  })
}
