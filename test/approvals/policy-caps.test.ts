import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { eachStore, type TestApp, writeFiles } from '../app.ts'
import { callApi } from '../http.ts'
import { dropDatabase } from '../postgres.ts'
import { eventually } from '../runs/scripted-agent.ts'
import {
  requestedApprovalId,
  CALLER_AGENT,
  type GatedApp,
  sharedGatedApp,
  openGatedApp,
  advanceUntilSettled,
  writeWedge,
  startReplica,
  stopReplica,
  gatedWedgeFiles,
} from './gated-app.ts'

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

const start = (desk: Pick<TestApp, 'createTask'>, action: string, payload: unknown = {}, more: object = {}) =>
  desk.createTask({ wedge: 'shop', task_type: 'act', input: { connection: 'crm', action, payload }, ...more })

const approvalsOf = async (desk: GatedApp, taskId: string) =>
  (await desk.call('GET', `/v1/approvals?task_id=${taskId}&limit=200`)).body.data

/** The status of the task's first approval: when it is pending, the task is cancelled. */
async function answerTo(desk: GatedApp, taskId: string): Promise<string> {
  await desk.events(taskId, { until: ({ event }) => event.startsWith('approval.') })
  const [row] = await approvalsOf(desk, taskId)
  if (row.status === 'pending') await desk.call('POST', `/v1/tasks/${taskId}/cancel`)
  else await desk.finished(taskId)
  return row.status
}

eachStore((store) => {
  describe('rules', () => {
    const shared = sharedGatedApp(store, { wedges: WEDGES })

    test('a rule that matches lets the action pass at once, and says why in the row and the log', async () => {
      const desk = shared()
      const task = await start(desk, 'refund:full', { amount_usd: 12 })
      expect((await desk.finished(task.id)).status).toBe('succeeded')
      const reason = "rule 2 ('refund:*') allows up to $50.00, 1 of 2 in this task"
      const [row] = await approvalsOf(desk, task.id)
      expect(row).toMatchObject({ status: 'auto_approved', policy_reason: reason, expires_at: null })
      expect(row.policy_rule).toEqual(POLICY.auto_approve[1])
      const events = await desk.events(task.id)
      expect(events.some(({ event }) => event === 'approval.requested')).toBe(false)
      const resolved = events.find(({ event }) => event === 'approval.resolved')?.data.data
      expect(resolved).toMatchObject({ decision: 'auto_approved', policy_reason: reason, action: 'refund:full' })
      const again = await desk.call('POST', `/v1/approvals/${row.approval_id}/approve`, {})
      expect(again.body).toEqual({ error: 'approval already decided (auto_approved)' })
    })

    test.each<[string, string, unknown, string]>([
      ['at the limit', 'refund:full', { amount: 50 }, 'auto_approved'],
      ['above the limit', 'refund:full', { amount: 50.01 }, 'pending'],
      ['the first key counts', 'refund:full', { amount_usd: 51, amount: 1 }, 'pending'],
      ['total, then value', 'refund:full', { value: 900, total: 9 }, 'auto_approved'],
      ['text is no amount', 'refund:full', { amount: '10' }, 'pending'],
      ['negative', 'refund:full', { amount: -1 }, 'pending'],
      ['below the top level', 'refund:full', { line: { amount: 1 } }, 'pending'],
      ['none', 'refund:full', {}, 'pending'],
      ['only the first match is asked', 'refund:vip', { amount: 20 }, 'pending'],
      ['case does not matter', 'PING', {}, 'auto_approved'],
      ['exact is exact', 'pings', {}, 'pending'],
      ['a cap of nothing', 'never', {}, 'pending'],
      ['no rule', 'other', {}, 'pending'],
    ])('%s: %s %j is %s', async (_, action, payload, status) => {
      const desk = shared()
      const task = await start(desk, action, payload)
      expect(await answerTo(desk, task.id)).toBe(status)
    })

    test('a wedge without a policy gates everything', async () => {
      const desk = shared()
      const task = await start(desk, 'ping', {}, { wedge: 'strict' })
      expect(await answerTo(desk, task.id)).toBe('pending')
    })

    test('approval_required switches policy off for the task, also at the tool gate', async () => {
      const desk = shared()
      const task = await start(desk, 'ping', {}, { constraints: { approval_required: true } })
      expect(await answerTo(desk, task.id)).toBe('pending')
      const tool = { wedge: 'shop', task_type: 'tool', input: { name: 'book_room', args: {} } }
      const free = await desk.createTask(tool)
      expect(await answerTo(desk, free.id)).toBe('auto_approved')
      const held = await desk.createTask({ ...tool, constraints: { approval_required: true } })
      expect(await answerTo(desk, held.id)).toBe('pending')
    })

    test('a cap in one task gates what is beyond it, and a refusal uses nothing', async () => {
      const desk = shared()
      const input = { connection: 'crm', action: 'refund:full', payload: { amount: 5 } }
      const task = await desk.createTask({ wedge: 'shop', task_type: 'thrice', input })
      const third = await requestedApprovalId(desk, task.id)
      const rows = await approvalsOf(desk, task.id)
      expect(rows.map(({ status }: { status: string }) => status).toSorted()).toEqual([
        'auto_approved',
        'auto_approved',
        'pending',
      ])
      await desk.call('POST', `/v1/approvals/${third}/approve`, {})
      expect((await desk.finished(task.id)).status).toBe('succeeded')
      const used = await desk.ctx.db
        .selectFrom('policy_counters')
        .selectAll()
        .where('span', 'like', `%${task.id}`)
        .execute()
      expect(used.map((row) => row.used)).toEqual([2])
    })

    test('a rule with two caps uses both or neither', async () => {
      const desk = shared()
      const both = (type: string) =>
        desk.createTask({
          wedge: 'shop',
          task_type: type,
          input: { connection: 'crm', action: 'both', payload: {} },
        })
      const first = await both('thrice')
      await requestedApprovalId(desk, first.id)
      await desk.call('POST', `/v1/tasks/${first.id}/cancel`)
      expect(await answerTo(desk, (await both('act')).id)).toBe('auto_approved')
      expect(await answerTo(desk, (await both('act')).id)).toBe('pending')
    })

    test('fifty racers get exactly what the day allows, and a new day begins at midnight UTC', async () => {
      const desk = shared()
      const tasks = await Promise.all(Array.from({ length: 50 }, () => start(desk, 'note')))
      const answers = await Promise.all(tasks.map(({ id }) => answerTo(desk, id)))
      expect(answers.filter((status) => status === 'auto_approved')).toHaveLength(7)
      expect(answers.filter((status) => status === 'pending')).toHaveLength(43)
      jumpTo(desk, '2026-03-02T23:59:59.999Z')
      expect(await answerTo(desk, (await start(desk, 'note')).id)).toBe('pending')
      jumpTo(desk, '2026-03-03T00:00:00.000Z')
      expect(await answerTo(desk, (await start(desk, 'note')).id)).toBe('auto_approved')
    })
  })

  describe('one run', () => {
    const shared = sharedGatedApp(store, {
      wedges: WEDGES,
      env: { SVC_AGENT_COMMAND: 'node agent.mjs', SVC_AGENT_DIR: agentDir },
    })

    test('fifty calls at once get exactly what the task allows', async () => {
      const desk = shared()
      const one = { path: 'actions/burst', body: { connection: 'crm', payload: {} } }
      const calls = Array.from({ length: 50 }, () => one)
      const task = await desk.createTask({ wedge: 'shop', task_type: 'act', input: { together: true, calls } })
      await requestedApprovalId(desk, task.id, 45)
      const rows = await approvalsOf(desk, task.id)
      expect(rows.filter(({ status }: { status: string }) => status === 'auto_approved')).toHaveLength(5)
      expect(rows.filter(({ status }: { status: string }) => status === 'pending')).toHaveLength(45)
      const reasons = rows.flatMap(({ policy_reason }: { policy_reason: string | null }) => policy_reason ?? [])
      expect(new Set(reasons).size).toBe(5)
      await desk.call('POST', `/v1/tasks/${task.id}/cancel`)
    })
  })

  test('what was used stays used when the limits of a rule change', async () => {
    const rule = (max_per_day: number) => ({ auto_approve: [{ action: 'Note', max_per_day }] })
    const desk = await openGatedApp(store, gatedWedgeFiles('shop', { policy: rule(3) }))
    onTestFinished(async () => {
      await advanceUntilSettled(desk, desk.stop())
      await desk.outside.close()
    })
    for (let used = 0; used < 3; used++) {
      expect(await answerTo(desk, (await start(desk, 'note')).id)).toBe('auto_approved')
    }
    for (const [limit, status] of [
      [2, 'pending'],
      [4, 'auto_approved'],
      [4, 'pending'],
    ] as const) {
      writeWedge(desk, gatedWedgeFiles('shop', { policy: rule(limit) }))
      await eventually(async () => {
        const { manifest } = (await desk.call('GET', '/v1/wedges/shop')).body
        return manifest.policy.auto_approve[0].max_per_day === limit
      })
      expect(await answerTo(desk, (await start(desk, 'note')).id)).toBe(status)
    }
  })

  test('caps hold across a restart', async () => {
    const desk = await openGatedApp(store, WEDGES)
    for (let used = 0; used < 6; used++) await answerTo(desk, (await start(desk, 'note')).id)
    await stopReplica(desk, desk.app)
    const after = await startReplica(desk)
    onTestFinished(async () => {
      await stopReplica(desk, after)
      await desk.outside.close()
      rmSync(desk.dir, { recursive: true, force: true })
      if (desk.ctx.config.databaseUrl) await dropDatabase(desk.ctx.config.databaseUrl)
    })
    const statuses: string[] = []
    for (let round = 0; round < 2; round++) {
      const input = { connection: 'crm', action: 'note', payload: {} }
      const task = { wedge: 'shop', task_type: 'act', input }
      const { id } = (await callApi(after.url, desk.key, 'POST', '/v1/tasks', task)).body
      let row: { status: string } | undefined
      while (!row) {
        row = (await callApi(after.url, desk.key, 'GET', `/v1/approvals?task_id=${id}`)).body.data[0]
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      statuses.push(row.status)
    }
    expect(statuses).toEqual(['auto_approved', 'pending'])
  })
})

/** From here on it is that time; timers that were set before stay where they are. */
function jumpTo({ clock }: GatedApp, time: string): void {
  clock.now = () => Date.parse(time)
}
