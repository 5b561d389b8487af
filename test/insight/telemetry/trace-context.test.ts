import { describe, expect, onTestFinished, test } from 'vitest'
import { readTraceHeaders } from '../../../src/platform/base/trace-context.ts'
import { anyStore, ECHO_WEDGE, FOUNDER_KEY, testApp } from '../../app.ts'
import {
  openGatedApp,
  gatedWedgeFiles,
  requestedApprovalId,
  startReplica,
  stopReplica,
} from '../../approvals/decisions/gated-app.ts'
import { createDeploymentFolder, removeDeploymentFolder, ServiceProcess } from '../../faults/service-process.ts'
import { advanceUntil } from '../../automation/webhooks/webhook-receiver.ts'
import { openFakeCollector, receivedTraces } from './fake-collector.ts'

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN_ID = '00f067aa0ba902b7'
const HEADERS = { traceparent: `00-${TRACE_ID}-${SPAN_ID}-01`, tracestate: 'congo=t61rcWkgMzE, rojo=00f067aa0ba902b7' }
const TRACESTATE = 'congo=t61rcWkgMzE,rojo=00f067aa0ba902b7'

const ACTION = { connection: 'crm', action: 'send_note', payload: { text: 'hello' } }

anyStore((store) => {
  test('the trace of a task continues the trace of its caller, also after it was parked for an approval', async () => {
    const collector = await openFakeCollector()
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, SVC_PARK_AFTER_S: '0' }
    const app = await openGatedApp(store, gatedWedgeFiles('gate'), env)
    onTestFinished(async () => {
      await app.stop()
      await app.outside.close()
    })
    const body = { wedge: 'gate', task_type: 'act', input: ACTION }
    const { body: task } = await app.call('POST', '/v1/tasks', body, { headers: HEADERS })
    const approval = await requestedApprovalId(app, task.id)
    await advanceUntil(app, async () => {
      const [row] = await app.ctx.db.selectFrom('tasks').select('replica').where('id', '=', task.id).execute()
      return row?.replica === null
    })
    await app.call('POST', `/v1/approvals/${approval}/approve`)
    const [root, ...others] = await collector.spansOf(app, task.id)
    expect(root).toMatchObject({ traceId: TRACE_ID, parentSpanId: SPAN_ID, traceState: TRACESTATE, flags: 0x301 })
    expect(others.length).toBeGreaterThan(0)
    for (const span of others) expect(span).toMatchObject({ traceId: TRACE_ID, traceState: TRACESTATE, flags: 0x101 })
    const ids = [root?.spanId, ...others.map(({ spanId }) => spanId)]
    expect(others.every(({ parentSpanId }) => ids.includes(parentSpanId))).toBe(true)
  })

  test('retries, tasks of a case and tasks of an assistant continue the trace of their request', async () => {
    const cases = { stages: ['new'], initial: 'new' }
    const wedges = { ...ECHO_WEDGE, 'echo/wedge.json': { ...ECHO_WEDGE['echo/wedge.json'], cases } }
    const app = await testApp({ store, wedges })
    const { id } = await app.createTask()
    await app.finished(id)
    const { body: found } = await app.call('POST', '/v1/cases', { wedge: 'echo', title: 'x' })
    const retried = await app.call('POST', `/v1/tasks/${id}/retry`, undefined, { headers: HEADERS })
    const ofCase = await app.call('POST', `/v1/cases/${found.id}/tasks`, { task_type: 'say' }, { headers: HEADERS })
    const call = { name: 'run_task', arguments: { wedge: 'echo', task_type: 'say' } }
    const asked = await app.call(
      'POST',
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call },
      { headers: HEADERS },
    )
    expect([retried.status, ofCase.status, asked.status]).toEqual([201, 201, 200])
    const { task_id } = asked.body.result.structuredContent
    const ids = [retried.body.id, ofCase.body.id, task_id]
    const rows = await app.ctx.db.selectFrom('tasks').select(['id', 'traceparent', 'tracestate']).execute()
    for (const taskId of ids)
      expect(rows.find((row) => row.id === taskId)).toMatchObject({
        traceparent: HEADERS.traceparent,
        tracestate: TRACESTATE,
      })
    expect(rows.find((row) => row.id === id)).toMatchObject({ traceparent: null, tracestate: null })
  })
})

test('a task that another process runs later continues the trace of its caller', async () => {
  const collector = await openFakeCollector()
  const dir = createDeploymentFolder()
  onTestFinished(() => removeDeploymentFolder(dir))
  const first = await ServiceProcess.start(dir, { SVC_MAX_CONCURRENT_TASKS: '0' })
  const response = await fetch(`${first.url}/v1/tasks`, {
    method: 'POST',
    headers: { ...HEADERS, authorization: `Bearer ${FOUNDER_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ wedge: 'echo', task_type: 'say' }),
  })
  const { id } = (await response.json()) as { id: string }
  expect(await first.terminate()).toBe(0)
  const second = await ServiceProcess.start(dir, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  await second.events(id)
  expect(await second.terminate()).toBe(0)
  const [[root] = []] = receivedTraces(collector)
  expect(root).toMatchObject({ traceId: TRACE_ID, parentSpanId: SPAN_ID })
})

test('another replica that continues a task sends its trace with the trace of the caller', async () => {
  const collector = await openFakeCollector()
  const app = await openGatedApp('postgres', gatedWedgeFiles('gate'), { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  const other = await startReplica(app)
  onTestFinished(async () => {
    await stopReplica(app, other)
    await app.stop()
    await app.outside.close()
  })
  const body = { wedge: 'gate', task_type: 'act', input: ACTION }
  const { body: task } = await app.call('POST', '/v1/tasks', body, { headers: HEADERS })
  const approval = await requestedApprovalId(app, task.id)
  const approve = `${other.url}/v1/approvals/${approval}/approve`
  await fetch(approve, { method: 'POST', headers: { authorization: `Bearer ${FOUNDER_KEY}` } })
  const [root] = await collector.spansOf(app, task.id)
  expect(root).toMatchObject({ traceId: TRACE_ID, parentSpanId: SPAN_ID })
})

describe('sampling', () => {
  const notSampled = { traceparent: HEADERS.traceparent.replace(/01$/, '00') }

  test('the trace of a task is not sent if its caller does not record its own', async () => {
    const collector = await openFakeCollector()
    const app = await testApp({ store: 'sqlite', env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } })
    const body = { wedge: 'echo', task_type: 'say' }
    const { body: silent } = await app.call('POST', '/v1/tasks', body, { headers: notSampled })
    await app.finished(silent.id)
    const { body: recorded } = await app.call('POST', '/v1/tasks', body, { headers: HEADERS })
    await collector.spansOf(app, recorded.id)
    const sent = receivedTraces(collector)
      .flat()
      .map(({ attributes }) => attributes['svc.task.id'])
    expect(sent.filter((id) => id !== undefined)).toEqual([recorded.id])
    expect(app.ctx.counts.traces).toEqual({ sent: 1, dropped: 0 })
  })

  test('with always_on it is sent', async () => {
    const collector = await openFakeCollector()
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER: 'always_on' }
    const app = await testApp({ store: 'sqlite', env })
    const { body } = await app.call('POST', '/v1/tasks', { wedge: 'echo', task_type: 'say' }, { headers: notSampled })
    expect((await collector.spansOf(app, body.id))[0]?.traceId).toBe(TRACE_ID)
  })
})

describe('the headers of a trace', () => {
  test('a task with a bad traceparent is created without it', async () => {
    const app = await testApp({ store: 'sqlite' })
    const headers = { traceparent: `00-${TRACE_ID}-${SPAN_ID}`, tracestate: 'a=1' }
    const { status, body } = await app.call('POST', '/v1/tasks', { wedge: 'echo', task_type: 'say' }, { headers })
    expect(status).toBe(201)
    const [row] = await app.ctx.db.selectFrom('tasks').selectAll().where('id', '=', body.id).execute()
    expect(row).toMatchObject({ traceparent: null, tracestate: null })
  })

  test.each([
    ['an uppercase digit', `00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`],
    ['a short trace id', `00-${TRACE_ID.slice(1)}-${SPAN_ID}-01`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN_ID}-01`],
    ['a span id of zeros', `00-${TRACE_ID}-${'0'.repeat(16)}-01`],
    ['the version ff', `ff-${TRACE_ID}-${SPAN_ID}-01`],
    ['a further field in version 00', `00-${TRACE_ID}-${SPAN_ID}-01-x`],
    ['two headers', `${HEADERS.traceparent}, ${HEADERS.traceparent}`],
    ['a line break', `${HEADERS.traceparent}\n`],
    ['no header', undefined],
  ])('a traceparent with %s is ignored', (_what, traceparent) => {
    expect(readTraceHeaders({ ...(traceparent !== undefined && { traceparent }), tracestate: 'a=1' })).toBeNull()
  })

  test('a later version is read as far as it is known', () => {
    expect(readTraceHeaders({ traceparent: `01-${TRACE_ID}-${SPAN_ID}-03-new` })).toEqual({
      traceparent: HEADERS.traceparent,
      tracestate: null,
    })
  })

  test.each([
    ['a key with an uppercase letter', 'A=1'],
    ['a member without a value', 'a'],
    ['an empty value', 'a='],
    ['an equals sign in the value', 'a=b=c'],
    ['the same key twice', 'a=1,a=2'],
    ['a character that cannot be printed', 'a=\u00e9'],
    ['more than 32 members', Array.from({ length: 33 }, (_, n) => `k${n}=1`).join(',')],
    ['more than 512 characters', `a=${'x'.repeat(250)},b=${'x'.repeat(250)},c=${'x'.repeat(50)}`],
    ['no member', ' , '],
  ])('a tracestate with %s is left out, and the traceparent stays', (_what, tracestate) => {
    const { traceparent } = HEADERS
    expect(readTraceHeaders({ traceparent, tracestate })).toEqual({ traceparent, tracestate: null })
  })

  test.each(['a=1', 'tenant@system=x y,b=2', ' a=1 ,, b=2'])('the tracestate %j is kept', (tracestate) => {
    const kept = tracestate.replace(/ *, *,* */g, ',').trim()
    expect(readTraceHeaders({ traceparent: HEADERS.traceparent, tracestate })?.tracestate).toBe(kept)
  })
})
