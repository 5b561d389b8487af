import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/platform/base/json.ts'
import { buildTrace, type TraceEvent, type TraceSpan } from '../../../src/insight/traces/trace.ts'

const time = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()

/** A log with one event per second. */
const log = (...events: [string, JsonObject][]): TraceEvent[] =>
  events.map(([type, data], index) => ({ seq: index + 1, type, ts: time(index), data }))

const created: [string, JsonObject] = [
  'task.created',
  { wedge: 'refunds', task_type: 'triage', status: 'running', sandbox: 'bwrap', model: 'rehearsal' },
]
const step = (number: number, label: string): [string, JsonObject] => ['step.started', { step: number, label }]
const called = (id: string, tool: string): [string, JsonObject] => ['tool.called', { call_id: id, tool, input: {} }]
const result = (id: string, ok: boolean): [string, JsonObject] => ['tool.result', { call_id: id, ok }]
const charged = (total: number): [string, JsonObject] => [
  'cost.charged',
  { model: 'm', cost_usd: 0.1, total_usd: total },
]
const requested = (id: string): [string, JsonObject] => ['approval.requested', { approval_id: id, action: 'refund' }]
const resolved = (id: string, decision: string): [string, JsonObject] => [
  'approval.resolved',
  { approval_id: id, action: 'refund', decision },
]
const finished = (status: string): [string, JsonObject] => ['task.finished', { status, duration_ms: 1 }]

type Line = [indent: number, id: string, kind: string, name: string, status: string, from: number, to: number | null]

const second = (ts: string) => new Date(ts).getUTCSeconds()

function lines(span: TraceSpan | null, indent = 0): Line[] {
  if (!span) return []
  const to = span.ended_at === null ? null : second(span.ended_at)
  const line: Line = [indent, span.span_id, span.kind, span.name, span.status, second(span.started_at), to]
  return [line, ...span.children.flatMap((child) => lines(child, indent + 1))]
}

function all(span: TraceSpan | null): TraceSpan[] {
  return span ? [span, ...span.children.flatMap(all)] : []
}

describe('the tree of a trace', () => {
  const fullLog = log(
    created,
    step(1, 'Look'),
    charged(0.1),
    called('a', 'read'),
    result('a', true),
    step(2, 'Act'),
    ['token.delta', { text: 'I will' }],
    ['progress', { text: 'hm' }],
    charged(0.2),
    called('b', 'act'),
    requested('apr_1'),
    resolved('apr_1', 'approved'),
    result('b', false),
    resolved('apr_2', 'auto_approved'),
    ['output.validated', { ok: true, errors: [] }],
    finished('succeeded'),
    ['feedback.recorded', { source: 'task', knowledge_id: null }],
  )

  test('the tree has the steps of the task, and each step has the spans that began in it', () => {
    const trace = buildTrace('task_1', fullLog)
    expect(trace).toMatchObject({ task_id: 'task_1', status: 'succeeded' })
    expect(lines(trace.root)).toEqual([
      [0, 's1', 'task', 'refunds/triage', 'ok', 0, 15],
      [1, 's2', 'step', 'Look', 'ok', 1, 5],
      [2, 's3', 'model', 'm', 'ok', 1, 2],
      [2, 's4', 'tool', 'read', 'ok', 3, 4],
      [1, 's6', 'step', 'Act', 'ok', 5, 15],
      [2, 's9', 'model', 'm', 'ok', 5, 8],
      [2, 's10', 'tool', 'act', 'failed', 9, 12],
      [2, 's11', 'approval', 'refund', 'ok', 10, 11],
      [2, 's14', 'approval', 'refund', 'ok', 13, 13],
    ])
  })

  test('an approval whose action failed is failed', () => {
    const spans = all(buildTrace('task_1', fullLog, new Set(['apr_1'])).root)
    expect(spans.filter(({ kind }) => kind === 'approval').map(({ status }) => status)).toEqual(['failed', 'ok'])
  })

  test('the spans have the data of their events', () => {
    const spans = all(buildTrace('task_1', fullLog).root)
    const attributes = (id: string) => spans.find((span) => span.span_id === id)?.attributes
    expect(attributes('s1')).toEqual({
      wedge: 'refunds',
      task_type: 'triage',
      sandbox: 'bwrap',
      model: 'rehearsal',
      cost_usd: 0.2,
    })
    expect(attributes('s10')).toEqual({ call_id: 'b', tool: 'act', input: {}, ok: false })
    expect(attributes('s11')).toEqual({ approval_id: 'apr_1', action: 'refund', decision: 'approved' })
    expect(attributes('s9')).toMatchObject({ model: 'm', total_usd: 0.2 })
    expect(spans.map((span) => span.duration_ms)).toEqual([15000, 4000, 1000, 1000, 10000, 3000, 3000, 1000, 0])
  })
})

describe('traces of unfinished tasks', () => {
  test('an empty log has no root', () => {
    expect(buildTrace('task_1', [])).toEqual({ task_id: 'task_1', status: 'queued', root: null })
  })

  test('open spans of a running task stay open', () => {
    const trace = buildTrace('t', log(created, step(1, 'Look'), called('a', 'read')))
    expect(trace.status).toBe('running')
    expect(lines(trace.root)).toEqual([
      [0, 's1', 'task', 'refunds/triage', 'running', 0, null],
      [1, 's2', 'step', 'Look', 'running', 1, null],
      [2, 's3', 'tool', 'read', 'running', 2, null],
    ])
    expect(all(trace.root).map((span) => span.duration_ms)).toEqual([null, null, null])
  })

  test('a pending approval gives the status awaiting_approval', () => {
    expect(buildTrace('t', log(created, requested('x'))).status).toBe('awaiting_approval')
    expect(buildTrace('t', log(created, requested('x'), resolved('x', 'approved'))).status).toBe('running')
  })

  test.each(['failed', 'rejected', 'expired', 'cancelled'])(
    'the open spans of a task that is %s are failed',
    (status) => {
      const trace = buildTrace('t', log(created, step(1, 'Act'), called('a', 'act'), requested('x'), finished(status)))
      expect(trace.status).toBe(status)
      expect(lines(trace.root).map(([, , kind, , outcome, , to]) => [kind, outcome, to])).toEqual([
        ['task', 'failed', 4],
        ['step', 'failed', 4],
        ['tool', 'failed', 4],
        ['approval', 'failed', 4],
      ])
    },
  )

  test('the span of a rejected approval is failed, and the root has the error', () => {
    const error = { reason: 'rejected', message: 'refund was rejected' }
    const end: [string, JsonObject] = ['task.finished', { status: 'rejected', error }]
    const trace = buildTrace('t', log(created, requested('x'), resolved('x', 'rejected'), end))
    expect(trace.root?.children[0]).toMatchObject({ kind: 'approval', status: 'failed', ended_at: time(2) })
    expect(trace.root?.attributes.error).toEqual(error)
  })

  test('a task that ended before it ran has only a root', () => {
    expect(lines(buildTrace('t', log(created, finished('cancelled'))).root)).toHaveLength(1)
  })
})

describe('unusual logs', () => {
  test('calls without ids are matched by tool name', () => {
    const trace = buildTrace(
      't',
      log(created, ['tool.called', { tool: 'read' }], ['tool.result', { tool: 'read', ok: true }]),
    )
    expect(lines(trace.root)[1]).toEqual([1, 's2', 'tool', 'read', 'ok', 1, 2])
  })

  test('a result without a call, a repeated result and unknown event types are ignored', () => {
    const trace = buildTrace(
      't',
      log(created, result('a', true), called('b', 'x'), result('b', true), result('b', false), ['new', {}]),
    )
    expect(lines(trace.root).slice(1)).toEqual([[1, 's3', 'tool', 'x', 'ok', 2, 3]])
  })

  test('a log without task.created has a root with an id of its own', () => {
    expect(lines(buildTrace('t', log(step(1, 'Look'))).root)).toEqual([
      [0, 's0', 'task', 'task', 'running', 0, null],
      [1, 's1', 'step', 'Look', 'running', 0, null],
    ])
  })

  test('event data of a wrong type gives default names', () => {
    const wrongTypes = {
      tool: 7,
      call_id: [],
      label: null,
      step: '1',
      model: {},
      action: 1,
      approval_id: 0,
      total_usd: 'x',
    }
    const types = ['step.started', 'tool.called', 'approval.requested', 'cost.charged']
    const trace = buildTrace('t', log(...types.map((type): [string, JsonObject] => [type, wrongTypes])))
    expect(all(trace.root).map((span) => span.name)).toEqual(['task', 'step', 'tool', 'approval', 'model'])
  })
})

const id = fc.constantFrom('a', 'b', 'c')
const anyEvent = fc.oneof(
  fc.nat(9).map((number) => step(number, `Step ${number}`)),
  id.map((call) => called(call, 'read')),
  fc.tuple(id, fc.boolean()).map(([call, ok]) => result(call, ok)),
  fc.constant(charged(1)),
  id.map(requested),
  fc
    .tuple(id, fc.constantFrom('approved', 'rejected', 'auto_approved'))
    .map(([key, decision]) => resolved(key, decision)),
  fc.constantFrom<[string, JsonObject]>(
    ['token.delta', { text: '' }],
    ['progress', { text: '' }],
    ['feedback.recorded', {}],
  ),
)
const anyLog = fc
  .tuple(fc.array(anyEvent, { maxLength: 30 }), fc.option(fc.constantFrom('succeeded', 'failed', 'expired')))
  .map(([events, end]) => log(created, ...events, ...(end === null ? [] : [finished(end)])))

describe('for all logs', () => {
  test('the order of the given events does not matter, and they are not changed', () => {
    fc.assert(
      fc.property(anyLog, fc.infiniteStream(fc.nat()), (events, order) => {
        const before = JSON.stringify(events)
        const shuffled = events.map((event) => ({ event, at: order.next().value })).toSorted((a, b) => a.at - b.at)
        expect(
          buildTrace(
            't',
            shuffled.map(({ event }) => event),
          ),
        ).toEqual(buildTrace('t', events))
        expect(JSON.stringify(events)).toBe(before)
      }),
    )
  })

  test('ids are unique, and children have the id of their parent and begin no earlier', () => {
    fc.assert(
      fc.property(anyLog, (events) => {
        const spans = all(buildTrace('t', events).root)
        expect(new Set(spans.map((span) => span.span_id)).size).toBe(spans.length)
        for (const span of spans) {
          for (const child of span.children) {
            expect(child.parent_id).toBe(span.span_id)
            expect(child.started_at >= span.started_at).toBe(true)
          }
        }
      }),
    )
  })

  test('a finished task has no open span, and a running task has its root and last step open', () => {
    fc.assert(
      fc.property(anyLog, (events) => {
        const spans = all(buildTrace('t', events).root)
        const openSpans = spans.filter((span) => span.ended_at === null)
        const ended = events.at(-1)?.type === 'task.finished'
        if (ended) expect(openSpans).toEqual([])
        else expect(openSpans[0]?.kind).toBe('task')
        expect(openSpans.filter((span) => span.kind === 'step').length).toBeLessThanOrEqual(1)
        for (const span of spans) expect((span.ended_at === null) === (span.status === 'running')).toBe(true)
      }),
    )
  })
})
