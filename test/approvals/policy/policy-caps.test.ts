import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { anyStore, eachStore, type TestApp, writeFiles } from '../../app.ts'
import { callApi } from '../../http.ts'
import { dropDatabase } from '../../postgres.ts'
import { eventually } from '../../execution/runs/scripted-agent.ts'
import {
  advanceUntilSettled,
  CALLER_AGENT,
  type GatedApp,
  gatedWedgeFiles,
  openGatedApp,
  requestedApprovalId,
  sharedGatedApp,
  startReplica,
  stopReplica,
  writeWedge,
} from '../decisions/gated-app.ts'

const agentDir = mkdtempSync(join(tmpdir(), 'svc-caller-'))
writeFiles(agentDir, CALLER_AGENT)
afterAll(() => rmSync(agentDir, { recursive: true, force: true }))

const POLICY = {
  auto_approve: [
    { action: 'refund:vip', max_amount_usd: 10 },
    { action: 'refund:*', max_amount_usd: 50, max_per_task: 2 },
    { action: 'note', max_per_day: 7 },
    { action: 'Ping' },
    { action: 'burst', max_per_task: 5 },
    { action: 'both', max_per_task: 1, max_per_day: 2 },
    { action: 'never', max_per_day: 0 },
    { action: 'book_room' },
  ],
}
const WEDGES = { ...gatedWedgeFiles('shop', { policy: POLICY }), ...gatedWedgeFiles('strict') }

const start = (app: Pick<TestApp, 'createTask'>, action: string, payload: unknown = {}, more: object = {}) =>
  app.createTask({ wedge: 'shop', task_type: 'act', input: { connection: 'crm', action, payload }, ...more })

const approvalsOf = async (app: GatedApp, taskId: string) =>
  (await app.call('GET', `/v1/approvals?task_id=${taskId}&limit=200`)).body.data

/** The status of the task's first approval. If it is pending, the task is cancelled. */
async function firstApprovalStatus(app: GatedApp, taskId: string): Promise<string> {
  await app.events(taskId, { until: ({ event }) => event.startsWith('approval.') })
  const [row] = await approvalsOf(app, taskId)
  if (row.status === 'pending') await app.call('POST', `/v1/tasks/${taskId}/cancel`)
  else await app.finished(taskId)
  return row.status
}

anyStore((store) => {
  describe('auto-approve rules', () => {
    const shared = sharedGatedApp(store, { wedges: WEDGES })

    test('a matching rule approves the action at once, with the reason in the approval and in the log', async () => {
      const app = shared()
      const task = await start(app, 'refund:full', { amount_usd: 12 })
      expect((await app.finished(task.id)).status).toBe('succeeded')
      const reason = 'Rule 2 (refund:*) allows up to $50 (1 of 2 in this task).'
      const [row] = await approvalsOf(app, task.id)
      expect(row).toMatchObject({ status: 'auto_approved', policy_reason: reason, expires_at: null })
      expect(row.policy_rule).toEqual(POLICY.auto_approve[1])
      const events = await app.events(task.id)
      expect(events.some(({ event }) => event === 'approval.requested')).toBe(false)
      const resolved = events.find(({ event }) => event === 'approval.resolved')?.data.data
      expect(resolved).toMatchObject({ decision: 'auto_approved', policy_reason: reason, action: 'refund:full' })
      const again = await app.call('POST', `/v1/approvals/${row.approval_id}/approve`, {})
      expect(again.body).toEqual({ error: 'approval already decided (auto_approved)' })
    })

    test.each<[string, string, unknown, string]>([
      ['at the limit', 'refund:full', { amount: 50 }, 'auto_approved'],
      ['above the limit', 'refund:full', { amount: 50.01 }, 'pending'],
      ['every amount counts', 'refund:full', { amount_usd: 1, amount: 1_000_000 }, 'pending'],
      ['total and value', 'refund:full', { value: 50, total: 9 }, 'auto_approved'],
      ['a text is not an amount', 'refund:full', { amount: '10' }, 'pending'],
      ['a negative amount', 'refund:full', { amount: -1 }, 'pending'],
      ['an amount below the top level', 'refund:full', { line: { amount: 1 } }, 'pending'],
      ['a larger amount below the top level', 'refund:full', { amount: 1, line: [{ total: 1_000_000 }] }, 'pending'],
      ['another currency', 'refund:full', { amount: 1, currency: 'BTC' }, 'pending'],
      ['no amount', 'refund:full', {}, 'pending'],
      ['only the first match counts', 'refund:vip', { amount: 20 }, 'pending'],
      ['case does not matter', 'PING', {}, 'auto_approved'],
      ['a name without wildcard matches exactly', 'pings', {}, 'pending'],
      ['a cap of zero', 'never', {}, 'pending'],
      ['no rule', 'other', {}, 'pending'],
    ])('%s: %s %j is %s', async (_, action, payload, status) => {
      const app = shared()
      const task = await start(app, action, payload)
      expect(await firstApprovalStatus(app, task.id)).toBe(status)
    })

    test.each<[string, unknown, object, string]>([
      ['refund:full', { amount: 84.5 }, {}, 'Auto-approval limit is $50; this is $84.50.'],
      ['refund:full', { text: 'all of it' }, {}, 'Auto-approval limit is $50; the payload states no amount.'],
      ['never', {}, {}, 'The auto-approval limit of 0 per day is reached.'],
      ['send_answer', {}, {}, 'No auto-approve rule covers send_answer.'],
      ['ping', {}, { constraints: { approval_required: true } }, 'This task requires approval for every action.'],
    ])('a pending approval of %s with %j has the reason why it was gated', async (action, payload, more, reason) => {
      const app = shared()
      const task = await start(app, action, payload, more)
      const id = await requestedApprovalId(app, task.id)
      const pending = (await app.call('GET', `/v1/approvals/${id}`)).body
      expect(pending).toMatchObject({ status: 'pending', policy_reason: reason, policy_rule: null })
      await app.call('POST', `/v1/tasks/${task.id}/cancel`)
    })

    test('a wedge without rules needs an approval for every action', async () => {
      const app = shared()
      const task = await start(app, 'ping', {}, { wedge: 'strict' })
      expect(await firstApprovalStatus(app, task.id)).toBe('pending')
    })

    test('approval_required disables the rules for a task, for actions and tool calls', async () => {
      const app = shared()
      const task = await start(app, 'ping', {}, { constraints: { approval_required: true } })
      expect(await firstApprovalStatus(app, task.id)).toBe('pending')
      const tool = { wedge: 'shop', task_type: 'tool', input: { name: 'book_room', args: {} } }
      const free = await app.createTask(tool)
      expect(await firstApprovalStatus(app, free.id)).toBe('auto_approved')
      const held = await app.createTask({ ...tool, constraints: { approval_required: true } })
      expect(await firstApprovalStatus(app, held.id)).toBe('pending')
    })

    test('a cap per task gates the actions beyond it, and a gated action uses no cap', async () => {
      const app = shared()
      const input = { connection: 'crm', action: 'refund:full', payload: { amount: 5 } }
      const task = await app.createTask({ wedge: 'shop', task_type: 'thrice', input })
      const third = await requestedApprovalId(app, task.id)
      const rows = await approvalsOf(app, task.id)
      expect(rows.map(({ status }: { status: string }) => status).toSorted()).toEqual([
        'auto_approved',
        'auto_approved',
        'pending',
      ])
      await app.call('POST', `/v1/approvals/${third}/approve`, {})
      expect((await app.finished(task.id)).status).toBe('succeeded')
      const used = await app.ctx.db
        .selectFrom('policy_counters')
        .selectAll()
        .where('span', 'like', `%${task.id}`)
        .execute()
      expect(used.map((row) => row.used)).toEqual([2])
    })

    test('a rule with two caps counts both or none', async () => {
      const app = shared()
      const both = (type: string) =>
        app.createTask({
          wedge: 'shop',
          task_type: type,
          input: { connection: 'crm', action: 'both', payload: {} },
        })
      const first = await both('thrice')
      await requestedApprovalId(app, first.id)
      await app.call('POST', `/v1/tasks/${first.id}/cancel`)
      expect(await firstApprovalStatus(app, (await both('act')).id)).toBe('auto_approved')
      expect(await firstApprovalStatus(app, (await both('act')).id)).toBe('pending')
    })
  })

  test('a change of the limits of a rule keeps its counters', async () => {
    const rule = (max_per_day: number) => ({ auto_approve: [{ action: 'Note', max_per_day }] })
    const app = await openGatedApp(store, gatedWedgeFiles('shop', { policy: rule(3) }))
    onTestFinished(async () => {
      await advanceUntilSettled(app, app.stop())
      await app.outside.close()
    })
    for (let used = 0; used < 3; used++) {
      expect(await firstApprovalStatus(app, (await start(app, 'note')).id)).toBe('auto_approved')
    }
    for (const [limit, status] of [
      [2, 'pending'],
      [4, 'auto_approved'],
      [4, 'pending'],
    ] as const) {
      writeWedge(app, gatedWedgeFiles('shop', { policy: rule(limit) }))
      await eventually(async () => {
        const { manifest } = (await app.call('GET', '/v1/wedges/shop')).body
        return manifest.policy.auto_approve[0].max_per_day === limit
      })
      expect(await firstApprovalStatus(app, (await start(app, 'note')).id)).toBe(status)
    }
  })

  test('policy caps survive a restart', async () => {
    const app = await openGatedApp(store, WEDGES)
    for (let used = 0; used < 6; used++) await firstApprovalStatus(app, (await start(app, 'note')).id)
    await stopReplica(app, app.app)
    const after = await startReplica(app)
    onTestFinished(async () => {
      await stopReplica(app, after)
      await app.outside.close()
      rmSync(app.dir, { recursive: true, force: true })
      if (app.ctx.config.databaseUrl) await dropDatabase(app.ctx.config.databaseUrl)
    })
    const statuses: string[] = []
    for (let round = 0; round < 2; round++) {
      const input = { connection: 'crm', action: 'note', payload: {} }
      const task = { wedge: 'shop', task_type: 'act', input }
      const { id } = (await callApi(after.url, app.key, 'POST', '/v1/tasks', task)).body
      let row: { status: string } | undefined
      while (!row) {
        row = (await callApi(after.url, app.key, 'GET', `/v1/approvals?task_id=${id}`)).body.data[0]
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      statuses.push(row.status)
    }
    expect(statuses).toEqual(['auto_approved', 'pending'])
  })
})

eachStore((store) => {
  describe('auto-approve rules', () => {
    const shared = sharedGatedApp(store, { wedges: WEDGES })

    test('fifty concurrent actions get exactly the cap per day, and a new day begins at midnight UTC', async () => {
      const app = shared()
      const tasks = await Promise.all(Array.from({ length: 50 }, () => start(app, 'note')))
      const statuses = await Promise.all(tasks.map(({ id }) => firstApprovalStatus(app, id)))
      expect(statuses.filter((status) => status === 'auto_approved')).toHaveLength(7)
      expect(statuses.filter((status) => status === 'pending')).toHaveLength(43)
      jumpTo(app, '2026-03-02T23:59:59.999Z')
      expect(await firstApprovalStatus(app, (await start(app, 'note')).id)).toBe('pending')
      jumpTo(app, '2026-03-03T00:00:00.000Z')
      expect(await firstApprovalStatus(app, (await start(app, 'note')).id)).toBe('auto_approved')
    })
  })

  describe('concurrent actions of one run', () => {
    const shared = sharedGatedApp(store, {
      wedges: WEDGES,
      env: { SVC_AGENT_COMMAND: 'node agent.mjs', SVC_AGENT_DIR: agentDir },
    })

    test('fifty concurrent calls get exactly the cap per task', async () => {
      const app = shared()
      const one = { path: 'actions/burst', body: { connection: 'crm', payload: {} } }
      const calls = Array.from({ length: 50 }, () => one)
      const task = await app.createTask({ wedge: 'shop', task_type: 'act', input: { together: true, calls } })
      // The others are refused, because one run has at most 20 pending approvals.
      await requestedApprovalId(app, task.id, 20)
      const rows = await approvalsOf(app, task.id)
      expect(rows.filter(({ status }: { status: string }) => status === 'auto_approved')).toHaveLength(5)
      expect(rows.filter(({ status }: { status: string }) => status === 'pending')).toHaveLength(20)
      const reasons = rows.map(({ policy_reason }: { policy_reason: string }) => policy_reason).toSorted()
      expect(reasons).toEqual([
        ...[1, 2, 3, 4, 5].map((use) => `Rule 5 (burst) allows this action (${use} of 5 in this task).`),
        ...Array.from({ length: 20 }, () => 'The auto-approval limit of 5 per task is reached.'),
      ])
      await app.call('POST', `/v1/tasks/${task.id}/cancel`)
    })
  })
})

/** Sets the clock without moving timers. */
function jumpTo({ clock }: GatedApp, time: string): void {
  clock.now = () => Date.parse(time)
}
