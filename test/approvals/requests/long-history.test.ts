import { beforeAll, expect, test } from 'vitest'
import type { ApprovalRow } from '../../../src/platform/store/tables.ts'
import { signUpOwner } from '../../identity/accounts/members.ts'
import { anyStore } from '../../app.ts'
import {
  type GatedApp,
  gatedWedgeFiles,
  requestedApprovalId,
  sharedGatedApp,
  startAction,
} from '../decisions/gated-app.ts'

const ROWS = 5_010
const BATCH = 500
const WEDGES = { ...gatedWedgeFiles('gate'), ...gatedWedgeFiles('strict') }

anyStore((store) => {
  const shared = sharedGatedApp(store, { wedges: WEDGES })
  beforeAll(async () => {
    member = await signUpOwner(shared())
  })

  test('a history of 5,010 approvals: the newest 500 are read, and those that people rejected or edited before them', async () => {
    const app = shared()
    const copies = Array.from({ length: ROWS - 1 }, (_, i) => ({ id: oldId(i + 1), ...decisionOf(i + 1) }))
    await insertCopies(app, 'gate', copies)
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

  test('a request that a person refused counts behind 600 refusals of other actions and 600 requests that the service closed', async () => {
    const app = shared()
    const rejected = { status: 'rejected' } as const
    const closed = { ...rejected, decided_by_kind: 'system' }
    await insertCopies(
      app,
      'strict',
      [
        // The refused requests are the oldest. Rules ignore the case of actions, also of letters that are not ASCII.
        { ...rejected, action: 'tell' },
        { ...rejected, action: 'GRÜSSEN' },
        { action: 'fix', edited: '{"text":"better"}' },
        { action: 'late', edited: '{"text":"better"}', status: 'expired' },
        { ...rejected, action: 'pay', payload: amountOf(25) },
        ...times(300, { ...rejected, action: 'buy', payload: amountOf(60) }),
        ...times(600, { ...rejected, action: 'other' }),
        ...times(600, { action: 'other', edited: '{}' }),
        ...times(300, { ...rejected, action: 'pay', payload: amountOf(900) }),
        ...['tell', 'grüssen', 'fix', 'pay', 'buy', 'free'].flatMap((action) => times(100, { ...closed, action })),
        ...['Tell', 'grüssen', 'fix', 'late', 'free'].flatMap((action) => times(5, { action })),
        ...['pay', 'buy'].flatMap((action) => [10, 20, 30, 40, 50].map((n) => ({ action, payload: amountOf(n) }))),
      ].map((copy, i) => ({ payload: '{"text":"hello"}', ...copy, id: newId(i) })),
    )
    const { body } = await app.call('GET', '/v1/wedges/strict/suggestions')
    expect(body.suggestions.toSorted(byAction)).toMatchObject([
      { rule: { action: 'buy', max_amount_usd: 50 }, not_covered: { count: 300 } },
      { rule: { action: 'free' }, not_covered: { count: 0 } },
    ])
    expect(body.refused.map(({ action }: { action: string }) => action).toSorted()).toEqual([
      'Tell',
      'fix',
      'grüssen',
      'late',
      'pay',
    ])
    expect(body.is_capped).toBe(true)
  })
})

/** Only what members approved is evidence for a rule. */
let member: string

/** Older than the ids of the service, because every digit is lower than its letters. */
const oldId = (n: number) => `apr_0${String(n).padStart(25, '0')}`
const newId = (n: number) => oldId(ROWS + n)

const amountOf = (amount: number) => JSON.stringify({ amount })
const times = (n: number, copy: Partial<ApprovalRow>) => Array.from({ length: n }, () => copy)
const byAction = (a: { rule: { action: string } }, b: { rule: { action: string } }) =>
  a.rule.action < b.rule.action ? -1 : 1

/** Approves the request of one task and stores its approval again with each of these changes. */
async function insertCopies(app: GatedApp, wedge: string, copies: readonly Partial<ApprovalRow>[]): Promise<void> {
  const task = await startAction(app, { action: 'pay', payload: { amount: 1 } }, { wedge })
  const id = await requestedApprovalId(app, task.id)
  await app.call('POST', `/v1/approvals/${id}/approve`, {}, { key: member })
  await app.finished(task.id)
  await app.ctx.store.transact(async (db) => {
    const row = await db.selectFrom('approvals').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    for (let from = 0; from < copies.length; from += BATCH) {
      const values = copies.slice(from, from + BATCH).map((copy): ApprovalRow => ({ ...row, ...copy }))
      await db.insertInto('approvals').values(values).execute()
    }
  })
}

/** The two oldest requests were refused. */
function decisionOf(n: number): Partial<ApprovalRow> {
  if (n === 1) return { payload: amountOf(60), status: 'rejected' }
  if (n === 2) return { payload: amountOf(50), edited: amountOf(5) }
  return { payload: amountOf(n < ROWS - 500 ? 99 : 10) }
}

/** Counts the rows with payloads that each statement returns from now on. */
function recordRowCounts({ ctx }: GatedApp): () => number[] {
  const executor = ctx.store.lists.getExecutor()
  const execute = executor.executeQuery.bind(executor)
  const counts: number[] = []
  executor.executeQuery = async (query) => {
    const result = await execute<never>(query)
    if (query.sql.includes('"payload"')) counts.push(result.rows.length)
    return result
  }
  return () => counts
}
