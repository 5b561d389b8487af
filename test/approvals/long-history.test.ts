import { expect, test } from 'vitest'
import type { ApprovalRow } from '../../src/store/tables.ts'
import { eachStore } from '../app.ts'
import { type GatedApp, requestedApprovalId, sharedGatedApp, startAction } from './gated-app.ts'

const ROWS = 5_010
const BATCH = 500

eachStore((store) => {
  const shared = sharedGatedApp(store)

  test('a history of 5,010 approvals: the newest 500 are read, and those that people rejected or edited before them', async () => {
    const app = shared()
    await insertCopies(app)
    const returned = recordRowCounts(app)
    const { status, body } = await app.call('GET', '/v1/wedges/gate/suggestions')
    expect(status).toBe(200)
    expect(body).toMatchObject({ checked: 502, is_capped: true })
    // The oldest requests that were approved have the highest amounts. They were not read.
    expect(body.suggestions).toMatchObject([
      { rule: { max_amount_usd: 10 }, would_pass: { count: 500 }, not_covered: { count: 2 } },
    ])
    expect(body.suggestions[0].not_covered.sample).toEqual([oldId(2), oldId(1)])
    expect(Math.max(...returned())).toBe(251)
  })
})

/** Older than the first one, because every digit is lower than its letters. */
const oldId = (n: number) => `apr_0${String(n).padStart(25, '0')}`

/** Stores the approval of one task many times, with ids in the order of their age. The two oldest were refused. */
async function insertCopies(app: GatedApp): Promise<void> {
  const task = await startAction(app, { action: 'pay', payload: { amount: 1 } })
  const id = await requestedApprovalId(app, task.id)
  await app.call('POST', `/v1/approvals/${id}/approve`)
  await app.finished(task.id)
  await app.ctx.store.transact(async (db) => {
    const row = await db.selectFrom('approvals').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    for (let from = 1; from < ROWS; from += BATCH) {
      const numbers = Array.from({ length: Math.min(BATCH, ROWS - from) }, (_, i) => ROWS - from - i)
      await db
        .insertInto('approvals')
        .values(numbers.map((n): ApprovalRow => ({ ...row, id: oldId(n), ...decisionOf(n) })))
        .execute()
    }
  })
}

function decisionOf(n: number): Partial<ApprovalRow> {
  if (n === 1) return { payload: '{"amount":60}', status: 'rejected' }
  if (n === 2) return { payload: '{"amount":50}', edited: '{"amount":5}' }
  return { payload: JSON.stringify({ amount: n < ROWS - 500 ? 99 : 10 }) }
}

/** Counts the rows with payloads that each statement returns from now on. */
function recordRowCounts({ ctx: { db } }: GatedApp): () => number[] {
  const executor = db.getExecutor()
  const execute = executor.executeQuery.bind(executor)
  const counts: number[] = []
  executor.executeQuery = async (query) => {
    const result = await execute<never>(query)
    if (query.sql.includes('"payload"')) counts.push(result.rows.length)
    return result
  }
  return () => counts
}
