import { describe, expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../../src/platform/config/config.ts'
import { buildTrace, type TraceSpan } from '../../../src/insight/traces/trace.ts'
import { TRACE_RETRY_DELAYS_MS } from '../../../src/insight/telemetry/trace-export.ts'
import { toOtlpSpans } from '../../../src/insight/telemetry/otlp-spans.ts'
import {
  requestedApprovalId,
  addConnections,
  GATED_ENV,
  startAction,
  gatedWedgeFiles,
} from '../../approvals/decisions/gated-app.ts'
import { respondJson, openFakeUpstream } from '../../fake-upstream.ts'
import { anyStore, testApp } from '../../app.ts'
import { createDeploymentFolder, removeDeploymentFolder, ServiceProcess } from '../../faults/service-process.ts'
import { fakeProvider, providerStreams } from '../../execution/models/fake-provider.ts'
import { advanceUntil } from '../../automation/webhooks/webhook-receiver.ts'
import { toPlainAttributes, openFakeCollector, receivedTraces } from './fake-collector.ts'

const SECRET = 'otlp-canary-secret'

anyStore((store) => {
  test('a finished task is sent as spans that match its log and contain no inputs or outputs', async () => {
    const collector = await openFakeCollector()
    const upstream = await openFakeUpstream()
    onTestFinished(() => upstream.close())
    const env = {
      ...GATED_ENV,
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/otlp/`,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${SECRET}`,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    }
    const app = await testApp({ store, wedges: gatedWedgeFiles('gate'), env })
    await addConnections(app, upstream.url)
    const task = await startAction(app, { payload: { text: 'canary of a payload' } })
    const approval = await requestedApprovalId(app, task.id)
    await app.call('POST', `/v1/approvals/${approval}/approve`, { note: 'canary of a note' })
    await app.finished(task.id)
    const spans = await collector.spansOf(app, task.id)

    const { body: trace } = await app.call('GET', `/v1/tasks/${task.id}/trace`)
    expect(spans.map(shapeOf)).toEqual(
      flat(trace.root).map((span) => [span.started_at, span.ended_at, parentStart(trace.root, span)]),
    )
    expect(spans[0]).toMatchObject({ name: 'invoke_agent gate', kind: 1, status: {} })
    expect(spans[0]?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'rehearsal',
      'gen_ai.agent.name': 'gate',
      'svc.task.status': 'succeeded',
      'svc.task.type': 'act',
    })
    const tool = spans.find(({ name }) => name === 'execute_tool act')
    expect(tool?.attributes).toMatchObject({ 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'act' })
    const wait = spans.find(({ name }) => name === 'approval send_note')
    expect(wait?.attributes).toMatchObject({ 'svc.approval.id': approval, 'svc.approval.decision': 'approved' })

    const [first] = collector.received
    expect(first).toMatchObject({ method: 'POST', url: '/otlp/v1/traces' })
    expect(first?.headers).toMatchObject({ authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' })
    const { resource } = JSON.parse(first?.body ?? '{}').resourceSpans[0]
    expect(toPlainAttributes(resource.attributes)).toMatchObject({
      'service.name': 'agent-work-service',
      'deployment.environment.name': 'test',
    })
    expect(collector.received.map(({ body }) => body).join('')).not.toMatch(/canary/)
    expect(app.logged.join('')).not.toContain(SECRET)

    function shapeOf(span: (typeof spans)[number]) {
      const time = (nano: string) => new Date(Number(nano.slice(0, -6))).toISOString()
      const parent = spans.find(({ spanId }) => spanId === span.parentSpanId)
      return [time(span.startTimeUnixNano), time(span.endTimeUnixNano), parent ? startOf(parent) : null]
    }
  })
})

test('a model call is a span with its tokens and cost', async () => {
  const collector = await openFakeCollector()
  const provider = await fakeProvider({
    chunks: [providerStreams.anthropic({ call: { name: 'finish', input: { output: 'canary' } } })],
  })
  const app = await testApp({
    store: 'sqlite',
    env: {
      SVC_MODEL: 'anthropic/claude-sonnet-4-5',
      ANTHROPIC_BASE_URL: provider.url,
      ANTHROPIC_API_KEY: 'sk',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/here`,
    },
  })
  const { id } = await app.createTask({ input: 'canary' })
  const [root, ...others] = await collector.spansOf(app, id)
  expect(root?.attributes).toMatchObject({
    'gen_ai.provider.name': 'anthropic',
    'gen_ai.request.model': 'claude-sonnet-4-5',
  })
  const chat = others.find(({ name }) => name === 'chat claude-sonnet-4-5')
  expect(chat?.kind).toBe(3)
  expect(chat?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'anthropic',
    'gen_ai.request.model': 'claude-sonnet-4-5',
    'gen_ai.usage.input_tokens': 1000,
    'gen_ai.usage.output_tokens': 100,
    'gen_ai.usage.cache_read.input_tokens': 200,
    'gen_ai.usage.cache_creation.input_tokens': 0,
    'gen_ai.request.stream': true,
    'gen_ai.response.model': 'claude-sonnet-4-5-20250929',
    'gen_ai.response.finish_reasons': ['tool_use'],
    'svc.cost_usd': expect.any(Number),
  })
  expect(collector.received[0]?.url).toBe('/here')
  expect(collector.received[0]?.body).not.toContain('canary')
})

describe('the trace collector', () => {
  test('a collector that responds with 503 gets the traces later', async () => {
    const collector = await openFakeCollector()
    let busy = true
    collector.respond = (_seen, response) => respondJson(response, busy ? 503 : 200, {})
    const app = await testApp({ store: 'sqlite', env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } })
    const { id } = await app.createTask()
    expect((await app.finished(id)).status).toBe('succeeded')
    await advanceUntil(app, () => collector.received.length >= 2)
    expect(app.ctx.counts.traces).toEqual({ sent: 0, dropped: 0 })
    busy = false
    await advanceUntil(app, () => app.ctx.counts.traces.sent === 1)
    expect(new Set(receivedTraces(collector).map(([root]) => root?.traceId)).size).toBe(1)
  })

  test('an unreachable collector does not affect tasks, and dropped traces are counted', async () => {
    const unreachable = await openFakeUpstream()
    await unreachable.close()
    const app = await testApp({
      store: 'sqlite',
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: unreachable.url, SVC_METRICS_PORT: '0' },
    })
    const { id } = await app.createTask()
    expect((await app.finished(id)).status).toBe('succeeded')
    await advanceUntil(app, async () => {
      await app.clock.advance(Math.max(...TRACE_RETRY_DELAYS_MS))
      return app.ctx.counts.traces.dropped === 1
    })
    expect((await app.finished((await app.createTask()).id)).status).toBe('succeeded')
    expect(await (await fetch(app.app.metricsUrl ?? '')).text()).toContain('svc_traces_dropped_total 1')
  })

  test('a redirect of the collector is not followed', async () => {
    const other = await openFakeCollector()
    const collector = await openFakeCollector()
    collector.respond = (_seen, response) => void response.writeHead(307, { location: other.url }).end()
    const app = await testApp({ store: 'sqlite', env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } })
    await app.finished((await app.createTask()).id)
    await advanceUntil(app, () => app.ctx.counts.traces.dropped === 1)
    expect([collector.received.length, other.received.length]).toEqual([1, 0])
  })

  test('a stopping service sends the traces of the last tasks', async () => {
    const collector = await openFakeCollector()
    const dir = createDeploymentFolder()
    onTestFinished(() => removeDeploymentFolder(dir))
    const service = await ServiceProcess.start(dir, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
    const { body: task } = await service.call('POST', '/v1/tasks', { wedge: 'echo', task_type: 'say' })
    await service.events(task.id)
    expect(await service.terminate()).toBe(0)
    expect(receivedTraces(collector).map(([root]) => root?.attributes['svc.task.id'])).toEqual([task.id])
  })
})

describe('OTLP spans of a task', () => {
  const at = (second: number) => `2026-03-02T09:00:0${second}.000Z`
  const task = {
    id: 'task_1',
    project_id: 'prj_1',
    task_type: 'say',
    thread_id: null,
    status: 'failed',
    created_at: at(0),
    traceparent: null,
    tracestate: null,
  }
  const created = { wedge: 'echo', task_type: 'say', status: 'running', sandbox: 'bwrap', model: 'openai/gpt-4.1' }
  const error = { reason: 'agent_failed', message: 'canary' }
  const events = [
    { seq: 1, type: 'task.created', ts: at(1), data: created },
    { seq: 2, type: 'step.started', ts: at(2), data: { step: 1, label: 'canary' } },
    {
      seq: 3,
      type: 'tool.called',
      ts: at(2),
      data: { call_id: 'c1', tool: 'a name that is a sentence, canary', input: 'canary' },
    },
    { seq: 4, type: 'task.finished', ts: at(3), data: { status: 'failed', error, duration_ms: 2000 } },
  ]
  const spans = toOtlpSpans(task, buildTrace(task.id, events))

  test('the same log always gives the same span ids', () => {
    expect(toOtlpSpans(task, buildTrace(task.id, events))).toEqual(spans)
    expect(spans.every(({ traceId, spanId }) => /^[0-9a-f]{32}$/.test(traceId) && /^[0-9a-f]{16}$/.test(spanId))).toBe(
      true,
    )
    expect(toOtlpSpans({ ...task, id: 'task_2' }, buildTrace('task_2', events))[0]?.traceId).not.toBe(spans[0]?.traceId)
  })

  test('spans contain the kind of a failure but not its message', () => {
    expect(spans.map(({ name, status }) => [name, status])).toEqual([
      ['invoke_agent echo', { code: 2 }],
      ['step', {}],
      ['execute_tool tool', { code: 2 }],
    ])
    expect(toPlainAttributes(spans[0]?.attributes as never)).toMatchObject({
      'error.type': 'agent_failed',
      'svc.task.queued_ms': 1000,
    })
    expect(JSON.stringify(spans)).not.toContain('canary')
  })

  test('a task has at most 1,000 spans', () => {
    const many = Array.from({ length: 1500 }, (_, n) => ({
      seq: n + 2,
      type: 'tool.called',
      ts: at(2),
      data: { call_id: `c${n}`, tool: 'look' },
    }))
    const all = toOtlpSpans(task, buildTrace(task.id, [...events.slice(0, 1), ...many]))
    expect(all).toHaveLength(1000)
    expect(toPlainAttributes(all[0]?.attributes as never)['svc.spans_left_out']).toBe(501)
  })
})

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'must be an http or https url'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://u:p@collector:4318' }, 'must not contain a user or password'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'must be http/json'],
])('invalid OpenTelemetry settings stop the start: %o', (env, sentence) => {
  expect(() => loadConfig(env)).toThrow(sentence)
})

test('traces are sent only with an endpoint, and not if OpenTelemetry is disabled', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }
  expect(loadConfig({}).otlp).toBeNull()
  expect(loadConfig({ ...endpoint, OTEL_SDK_DISABLED: 'true' }).otlp).toBeNull()
  expect(loadConfig(endpoint).otlp?.url).toBe('http://collector:4318/v1/traces')
})

const flat = (span: TraceSpan): TraceSpan[] => [span, ...span.children.flatMap(flat)]

/** Parents are compared by their start time. */
function parentStart(root: TraceSpan, span: TraceSpan): string | null {
  return flat(root).find(({ span_id }) => span_id === span.parent_id)?.started_at ?? null
}

const startOf = ({ startTimeUnixNano }: { startTimeUnixNano: string }) =>
  new Date(Number(startTimeUnixNano.slice(0, -6))).toISOString()
