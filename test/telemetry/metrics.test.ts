import { describe, expect, test } from 'vitest'
import { requestedApprovalId, sharedGatedApp, startAction } from '../approvals/gated-app.ts'
import { eachStore, FOUNDER_KEY, startTestApp, testApp } from '../app.ts'
import { fakeProvider, providerStreams } from '../models/fake-provider.ts'
import { scrapeMetrics } from './scrape-metrics.ts'

const METRICS = { SVC_METRICS_PORT: '0' }

eachStore((store) => {
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
      expect(text).not.toMatch(/task_|prj_|org_|svc_key_|canary|echo/)
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
      expect(waiting.value('svc_approvals_requested_total')).toBe(1)
      expect(waiting.value('svc_tasks_open', { status: 'awaiting_approval' })).toBe(1)
      expect(waiting.value('svc_cells', { kind: 'harness', state: 'busy' })).toBe(1)
      await gatedApp().call('POST', `/v1/approvals/${approval}/approve`, {})
      await gatedApp().finished(task.id)
      const decided = await scrapeMetrics(gatedApp())
      expect(decided.value('svc_approvals_pending')).toBe(0)
      expect(decided.value('svc_approvals_decided_total', { decision: 'approved' })).toBe(1)
      expect(decided.value('svc_cells', { kind: 'harness', state: 'kept' })).toBe(1)
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
  const labels = { model: 'claude-sonnet-4-5' }
  expect(value('svc_model_calls_total', labels)).toBe(1)
  expect(value('svc_model_tokens_total', { ...labels, type: 'input' })).toBe(1000)
  expect(value('svc_model_tokens_total', { ...labels, type: 'output' })).toBe(100)
  expect(value('svc_model_cost_usd_total', labels)).toBe(task.cost_usd)
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
