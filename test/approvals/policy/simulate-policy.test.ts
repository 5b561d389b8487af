import { describe, expect, test } from 'vitest'
import { type PastGatedRequest, simulatePolicy } from '../../../src/approvals/policy/simulate-policy.ts'
import { anyStore } from '../../app.ts'
import { signUpOtherOrganisation } from '../../wedges/knowledge/knowledge-app.ts'
import { gatedWedgeFiles, requestedApprovalId, sharedGatedApp, startAction } from '../decisions/gated-app.ts'

const request = (more: Partial<PastGatedRequest> = {}): PastGatedRequest => ({
  taskId: 'task_1',
  action: 'refund:full',
  payload: { amount: 10 },
  createdAt: '2026-03-02T09:00:00.000Z',
  approvalRequired: false,
  ...more,
})
const results = (...given: Parameters<typeof simulatePolicy>) => simulatePolicy(...given).map(({ would }) => would)

describe('simulatePolicy', () => {
  test('caps count auto-approvals by task and UTC day, and a gated request uses no cap', () => {
    const rules = [{ action: 'refund:*', max_amount_usd: 50, max_per_task: 2, max_per_day: 3 }]
    const past = [
      request(),
      request({ payload: { amount: 51 } }),
      request(),
      request(),
      request({ taskId: 'task_2', createdAt: '2026-03-02T23:59:59.999Z' }),
      request({ taskId: 'task_3', createdAt: '2026-03-02T23:59:59.999Z' }),
      request({ taskId: 'task_3', createdAt: '2026-03-03T00:00:00.000Z' }),
    ]
    expect(results(rules, past)).toEqual(['pass', 'gate', 'pass', 'gate', 'pass', 'gate', 'pass'])
  })

  test('each rule has its own counters, and only the first matching rule is evaluated', () => {
    const rules = [
      { action: 'a', max_per_task: 1 },
      { action: '*', max_per_task: 1 },
    ]
    const past = ['a', 'b', 'a', 'b'].map((action) => request({ action }))
    expect(results(rules, past)).toEqual(['pass', 'pass', 'gate', 'gate'])
  })

  test('a task that requires approval for every action is always gated', () => {
    expect(simulatePolicy([{ action: '*' }], [request({ approvalRequired: true })])).toEqual([
      { would: 'gate', reason: 'This task requires approval for every action.' },
    ])
  })

  test('without rules every request is gated, and without requests the result is empty', () => {
    expect(results([], [request()])).toEqual(['gate'])
    expect(simulatePolicy([{ action: '*' }], [])).toEqual([])
  })
})

anyStore((store) => {
  const shared = sharedGatedApp(store, { wedges: { ...gatedWedgeFiles('gate'), ...gatedWedgeFiles('other') } })
  const at = '/v1/wedges/gate/policy/simulate'

  test('past approvals are simulated oldest first, and nothing is written', async () => {
    const app = shared()
    const ids: string[] = []
    for (const [amount, decision] of [
      [20, 'approve'],
      [80, 'reject'],
      [30, 'approve'],
    ] as const) {
      await app.clock.advance(1)
      const task = await startAction(app, { action: 'refund:full', payload: { amount } })
      ids.push(await requestedApprovalId(app, task.id))
      await app.call('POST', `/v1/approvals/${ids.at(-1)}/${decision}`, {})
      await app.finished(task.id)
    }
    const otherWedge = await startAction(app, {}, { wedge: 'other' })
    await app.call('POST', `/v1/approvals/${await requestedApprovalId(app, otherWedge.id)}/reject`)
    const before = await written(app)
    const auto_approve = [{ action: 'refund:', max_amount_usd: 50, max_per_day: 1 }]
    const { status, body } = await app.call('POST', at, { auto_approve })
    expect(status).toBe(200)
    expect(body).toMatchObject({ checked: 3, would_pass: 1, would_gate: 2 })
    const [first, second, third] = body.results
    expect(body.results.map(({ approval_id }: { approval_id: string }) => approval_id)).toEqual(ids)
    expect(first).toMatchObject({ action: 'refund:full', status: 'approved', would: 'pass' })
    expect(first.reason).toBe('Rule 1 (refund:) allows up to $50 (1 of 1 today).')
    expect(second).toMatchObject({ status: 'rejected', would: 'gate' })
    expect(third.reason).toBe('The auto-approval limit of 1 per day is reached.')
    expect(Date.parse(first.created_at)).toBeLessThan(Date.parse(third.created_at))
    const newest = await app.call('POST', at, { auto_approve, limit: 1 })
    expect(newest.body.results.map(({ approval_id }: { approval_id: string }) => approval_id)).toEqual([ids[2]])
    expect(await written(app)).toEqual(before)
  })

  test('the route validates its body and checks role and scope', async () => {
    const app = shared()
    for (const body of [
      {},
      { auto_approve: {} },
      { auto_approve: [{ max_per_day: 1 }] },
      { auto_approve: [{ action: '' }] },
      { auto_approve: [{ action: 'x', max_amount_usd: -1 }] },
      { auto_approve: [{ action: 'x', max_per_task: 1.5 }] },
      { auto_approve: [{ action: 'x', max_amount: 5 }] },
      { auto_approve: [], limit: 0 },
      { auto_approve: [], limit: 1001 },
      { auto_approve: [], limit: '5' },
    ]) {
      expect((await app.call('POST', at, body)).status).toBe(400)
    }
    expect((await app.call('POST', '/v1/wedges/none/policy/simulate', {})).status).toBe(404)
    const viewer = (await app.call('POST', '/v1/keys', { name: 'v', role: 'viewer' })).body.key
    const operator = (await app.call('POST', '/v1/keys', { name: 'o', role: 'operator' })).body.key
    const asking = { auto_approve: [{ action: '*' }] }
    expect((await app.call('POST', at, asking, { key: viewer })).status).toBe(403)
    expect((await app.call('POST', at, asking, { key: operator })).status).toBe(200)
    const otherOrganisation = await app.call('POST', at, asking, await signUpOtherOrganisation(app))
    expect(otherOrganisation).toMatchObject({ status: 200, body: { checked: 0, results: [] } })
  })
})

async function written({ ctx }: { ctx: ReturnType<ReturnType<typeof sharedGatedApp>>['ctx'] }) {
  const counters = await ctx.db.selectFrom('policy_counters').selectAll().execute()
  const approvals = await ctx.db.selectFrom('approvals').selectAll().orderBy('id').execute()
  const lines = await ctx.db.selectFrom('audit_entries').select('seq').execute()
  return { counters, approvals, lines: lines.length }
}
