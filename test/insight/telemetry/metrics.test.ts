import { describe, expect, test } from 'vitest'
import { LabelledCounts, MAX_LABEL_SETS } from '../../../src/platform/ctx/labelled-counts.ts'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { endTask } from '../../../src/approvals/lifecycle/end-task.ts'
import {
  advanceUntilSettled,
  requestedApprovalId,
  sharedGatedApp,
  startAction,
} from '../../approvals/decisions/gated-app.ts'
import { anyStore, eachStore, FOUNDER_KEY, startTestApp, testApp } from '../../app.ts'
import { fakeProvider, providerStreams } from '../../execution/models/fake-provider.ts'
import { scrapeMetrics } from './scrape-metrics.ts'

const METRICS = { SVC_METRICS_PORT: '0' }

anyStore((store) => {
  describe('metrics of tasks and requests', () => {
    test('metrics count tasks, events, commits and requests, without ids or user-supplied text', async () => {
      const app = await testApp({ store, env: METRICS })
      const tasks = [await app.createTask({ input: 'canary' }), await app.createTask()]
      for (const { id } of tasks) await app.finished(id)
      await app.call('GET', '/v1/tasks/task_absent')
      const { text, value } = await scrapeMetrics(app)

      expect(value('svc_tasks_created_total')).toBe(2)
      expect(value('svc_tasks_finished_total', { status: 'succeeded' })).toBe(2)
      expect(value('svc_tasks_finished_total', { status: 'failed' })).toBe(0)
      expect(value('svc_tasks_seconds_count', { wedge: 'echo', status: 'succeeded' })).toBe(2)
      expect(value('svc_tasks_failed_total', { wedge: 'echo', reason: 'output_invalid' })).toBe(0)
      expect(value('svc_events_total')).toBeGreaterThanOrEqual(4)
      expect(value('svc_commits_total')).toBeGreaterThan(2)
      const tasksOfFounder = { plane: 'founder', subject: 'tasks' }
      expect(value('svc_http_requests_total', { ...tasksOfFounder, status: '4xx' })).toBe(1)
      // Two creations, two reads and one 404. The two streams are not timed.
      expect(value('svc_http_request_seconds_count', tasksOfFounder)).toBe(5)
      expect(value('svc_http_request_seconds_bucket', { ...tasksOfFounder, le: '+Inf' })).toBe(5)
      expect(value('svc_http_streams_open', { plane: 'founder' })).toBe(0)
      expect(value('svc_store_up')).toBe(1)
      expect(value('process_resident_memory_bytes')).toBeGreaterThan(1e6)
      expect(text).toContain(`store="${store}",sandbox="process"`)
      // The deployment declares its wedges, so their names may be labels.
      expect(text.replaceAll('wedge="echo"', '')).not.toMatch(/task_|prj_|org_|svc_key_|canary|echo/)
    })

    test('metrics count failed tasks by wedge and reason, and how long tasks took', async () => {
      const app = await testApp({ store, env: { ...METRICS, SVC_MAX_CONCURRENT_TASKS: '0' } })
      const { id } = await app.createTask()
      await app.clock.advance(7_000)
      await app.call('POST', `/v1/tasks/${id}/cancel`)
      const cancelled = { wedge: 'echo', status: 'cancelled' }
      const first = await scrapeMetrics(app)
      expect(first.value('svc_tasks_seconds_sum', cancelled)).toBe(7)
      expect(first.value('svc_tasks_seconds_bucket', { ...cancelled, le: '2.5' })).toBe(0)
      expect(first.value('svc_tasks_seconds_bucket', { ...cancelled, le: '10' })).toBe(1)
      const { id: other } = await app.createTask()
      const error = { reason: 'sandbox_failed' as const, message: 'canary' }
      await inTx(app.ctx, (tx) => endTask(tx, other, { status: 'failed', error }))
      const { value, text } = await scrapeMetrics(app)
      expect(value('svc_tasks_failed_total', { wedge: 'echo', reason: 'sandbox_failed' })).toBe(1)
      expect(value('svc_tasks_failed_total', { wedge: 'echo', reason: 'model_failed' })).toBe(0)
      expect(text).not.toContain('canary')
    })

    test('metrics show the open tasks and how long the oldest queued task waits', async () => {
      const app = await testApp({ store, env: { ...METRICS, SVC_MAX_CONCURRENT_TASKS: '0' } })
      await app.createTask()
      await app.clock.advance(55_000)
      await app.createTask()
      const { value } = await scrapeMetrics(app)
      expect(value('svc_tasks_open', { status: 'queued' })).toBe(2)
      expect(value('svc_tasks_open', { status: 'running' })).toBe(0)
      expect(value('svc_tasks_oldest_queued_seconds')).toBe(60)
    })

    test('metrics are cached for five seconds', async () => {
      const app = await testApp({ store, env: { ...METRICS, SVC_MAX_CONCURRENT_TASKS: '0' } })
      const { text } = await scrapeMetrics(app)
      await app.createTask()
      expect(await (await fetch(app.app.metricsUrl ?? '')).text()).toBe(text)
      const { value } = await scrapeMetrics(app)
      expect(value('svc_tasks_open', { status: 'queued' })).toBe(1)
    })
  })

  describe('metrics of approvals', () => {
    const gatedApp = sharedGatedApp(store, { env: METRICS })

    test('metrics show pending approvals and decisions', async () => {
      const task = await startAction(gatedApp())
      const approval = await requestedApprovalId(gatedApp(), task.id)
      const waiting = await scrapeMetrics(gatedApp())
      expect(waiting.value('svc_approvals_pending')).toBe(1)
      expect(waiting.value('svc_approvals_oldest_pending_seconds')).toBeGreaterThanOrEqual(5)
      expect(waiting.value('svc_approvals_requested_total')).toBe(1)
      expect(waiting.value('svc_tasks_open', { status: 'awaiting_approval' })).toBe(1)
      expect(waiting.value('svc_cells', { kind: 'harness', state: 'busy' })).toBe(1)
      await gatedApp().call('POST', `/v1/approvals/${approval}/approve`, {})
      await gatedApp().finished(task.id)
      const decided = await scrapeMetrics(gatedApp())
      expect(decided.value('svc_approvals_pending')).toBe(0)
      expect(decided.value('svc_approvals_oldest_pending_seconds')).toBe(0)
      expect(decided.value('svc_approvals_decided_total', { decision: 'approved' })).toBe(1)
      expect(decided.value('svc_cells', { kind: 'harness', state: 'kept' })).toBe(1)
    })

    test('metrics show how long the oldest approval waits, and the runs that wait without a process', async () => {
      const older = await startAction(gatedApp())
      await requestedApprovalId(gatedApp(), older.id)
      await gatedApp().clock.advance(25_000)
      const newer = await startAction(gatedApp())
      await requestedApprovalId(gatedApp(), newer.id)
      const { value } = await scrapeMetrics(gatedApp())
      expect(value('svc_approvals_pending')).toBe(2)
      expect(value('svc_approvals_oldest_pending_seconds')).toBe(30)
      await expect
        .poll(async () => (await scrapeMetrics(gatedApp())).value('svc_runs_parked', { status: 'awaiting_approval' }))
        .toBe(2)
      for (const { id } of [older, newer]) await gatedApp().call('POST', `/v1/tasks/${id}/cancel`)
      const after = await scrapeMetrics(gatedApp())
      expect(after.value('svc_runs_parked', { status: 'awaiting_approval' })).toBe(0)
      expect(after.value('svc_runs_parked', { status: 'running' })).toBe(0)
    })
  })
})

eachStore((store) => {
  describe('metrics of tasks and requests', () => {
    test('metrics show the use of the connections to PostgreSQL', async () => {
      const { value } = await scrapeMetrics(await testApp({ store, env: METRICS }))
      const isPooled = store === 'postgres'
      expect(value('svc_store_connections_max')).toBe(isPooled ? 20 : undefined)
      expect(value('svc_store_connections_waiting')).toBe(isPooled ? 0 : undefined)
      const open = ['busy', 'idle'].map((state) => value('svc_store_connections', { state }) ?? 0)
      expect(open.some((n) => n > 0)).toBe(isPooled)
    })
  })
})

test('metrics count a stream as open until its client disconnects', async () => {
  const app = await testApp({ store: 'sqlite', env: { ...METRICS, SVC_MAX_CONCURRENT_TASKS: '0' } })
  const { id } = await app.createTask()
  const disconnect = new AbortController()
  const headers = { authorization: `Bearer ${FOUNDER_KEY}` }
  const stream = await fetch(`${app.url}/v1/tasks/${id}/events`, { headers, signal: disconnect.signal })
  expect(stream.status).toBe(200)
  expect((await scrapeMetrics(app)).value('svc_http_streams_open', { plane: 'founder' })).toBe(1)
  disconnect.abort()
  await expect.poll(async () => (await scrapeMetrics(app)).value('svc_http_streams_open', { plane: 'founder' })).toBe(0)
})

test('metrics count model calls with their tokens and cost', async () => {
  const provider = await fakeProvider({
    chunks: [providerStreams.anthropic({ call: { name: 'finish', input: { output: 'done' } } })],
  })
  const model = { SVC_MODEL: 'anthropic/claude-sonnet-4-5', ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: 'sk' }
  const app = await testApp({ store: 'sqlite', env: { ...METRICS, ...model } })
  const task = await app.finished((await app.createTask()).id)
  expect(task.status).toBe('succeeded')
  const { value } = await scrapeMetrics(app)
  const labels = { model: 'claude-sonnet-4-5', wedge: 'echo' }
  expect(value('svc_model_calls_total', labels)).toBe(1)
  expect(value('svc_model_tokens_total', { ...labels, type: 'input' })).toBe(1000)
  expect(value('svc_model_tokens_total', { ...labels, type: 'output' })).toBe(100)
  expect(value('svc_model_cost_usd_total', labels)).toBe(task.cost_usd)
  expect(value('svc_model_cache_tokens_total', { ...labels, type: 'read' })).toBe(200)
  expect(value('svc_model_cache_tokens_total', { ...labels, type: 'write' })).toBe(0)
  expect(value('svc_model_call_seconds_count', labels)).toBe(1)
})

test('metrics count failed attempts to call a model by what went wrong', async () => {
  const provider = await fakeProvider({ status: 429, headers: { 'retry-after': '0' } }, { status: 400 })
  const model = { SVC_MODEL: 'anthropic/claude-sonnet-4-5', ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: 'sk' }
  const app = await testApp({ store: 'sqlite', env: { ...METRICS, ...model } })
  const task = await advanceUntilSettled(app, app.finished((await app.createTask()).id))
  expect(task.status).toBe('failed')
  const { value } = await scrapeMetrics(app)
  const labels = { model: 'claude-sonnet-4-5' }
  expect(value('svc_model_attempts_failed_total', { ...labels, reason: 'rate_limited' })).toBe(1)
  expect(value('svc_model_attempts_failed_total', { ...labels, reason: 'refused' })).toBe(1)
  expect(value('svc_tasks_failed_total', { wedge: 'echo', reason: 'model_failed' })).toBe(1)
})

test('a metric has a limited number of label combinations', () => {
  const counts = new LabelledCounts({ model: 'other', wedge: 'other' }, () => ({ n: 0 }))
  for (let n = 0; n < 1000; n++) counts.at({ model: 'm', wedge: `w${n}` }).n++
  counts.at({ model: 'm', wedge: 'w0' }).n++
  const entries = counts.entries()
  expect(entries).toHaveLength(MAX_LABEL_SETS + 1)
  expect(entries[0]).toEqual({ labels: { model: 'm', wedge: 'w0' }, count: { n: 2 } })
  expect(entries.at(-1)).toEqual({ labels: { model: 'other', wedge: 'other' }, count: { n: 1000 - MAX_LABEL_SETS } })
})

describe('the metrics server', () => {
  test('without SVC_METRICS_PORT there are no metrics, also not on the public port', async () => {
    const app = await testApp({ store: 'sqlite' })
    expect(app.app.metricsUrl).toBeNull()
    expect((await app.call('GET', '/metrics')).status).toBe(404)
  })

  test('the metrics server requires the token if one is set', async () => {
    const app = await testApp({ store: 'sqlite', env: { ...METRICS, SVC_METRICS_TOKEN: 'let-me-see' } })
    const url = app.app.metricsUrl ?? ''
    const { status, headers } = await fetch(url)
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect((await fetch(url, { headers: { authorization: `Bearer ${FOUNDER_KEY}` } })).status).toBe(401)
    const { text } = await scrapeMetrics(app, { authorization: 'Bearer let-me-see' })
    expect(text).not.toContain('let-me-see')
  })

  test('without a token the metrics server refuses to listen for other machines', async () => {
    const started = startTestApp({ store: 'sqlite', env: { ...METRICS, SVC_METRICS_HOST: '0.0.0.0' } })
    await expect(started).rejects.toThrow('SVC_METRICS_TOKEN is required')
  })

  test('the metrics server responds only to GET /metrics', async () => {
    const app = await testApp({ store: 'sqlite', env: METRICS })
    const url = app.app.metricsUrl ?? ''
    expect((await fetch(url, { method: 'POST' })).status).toBe(405)
    expect((await fetch(url.replace('/metrics', '/v1/meta'))).status).toBe(404)
  })
})
