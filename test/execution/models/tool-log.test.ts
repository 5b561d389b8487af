import { expect, test } from 'vitest'
import type { Json } from '../../../src/platform/base/json.ts'
import type { NewEvent } from '../../../src/work/events/event-types.ts'
import { ToolLog } from '../../../src/execution/models/tool-log.ts'

function toolLog() {
  const events: NewEvent[] = []
  const log = new ToolLog((event) => events.push(event))
  const call = (id: string, input = {}) => log.recordCalls([{ id, name: 'look', input, inputError: null }])
  const result = (id: string, value: Json = 'ok') => ({ id, ok: true, value })
  return { events, log, call, result, types: () => events.map(({ type }) => type) }
}

test('the result of a call is recorded once, however often a request repeats it', () => {
  const { log, call, result, types } = toolLog()
  call('c1')
  log.recordResults([result('c1')])
  log.recordResults([result('c1'), result('unknown')])
  expect(types()).toEqual(['tool.called', 'tool.result'])
})

test('an id that a model uses again gets its own result', () => {
  const { events, log, call, result } = toolLog()
  call('c1')
  log.recordResults([result('c1', 'first')])
  call('c1')
  log.recordResults([result('c1', 'first'), result('c1', 'second')])
  expect(events.filter(({ type }) => type === 'tool.result').map(({ data }) => data)).toMatchObject([
    { output: 'first' },
    { output: 'second' },
  ])
})

test('an agent that logs its tools is not logged twice', () => {
  const { log, call, result, types } = toolLog()
  call('c1')
  const called = { type: 'tool.called', data: { call_id: 'c1', tool: 'look', input: {} } } as const
  const returned = { type: 'tool.result', data: { call_id: 'c1', tool: 'look', ok: true } } as const
  expect(log.acceptAgentEvent(called)).toBe(false)
  expect(log.acceptAgentEvent(returned)).toBe(true)
  log.recordResults([result('c1')])
  call('c2')
  expect(log.acceptAgentEvent({ type: 'progress', data: { text: 'a' } })).toBe(true)
  expect(types()).toEqual(['tool.called'])
})

test('values are short and contain no token of the run', () => {
  const { events, log, call, result } = toolLog()
  call('c1', { text: 'x'.repeat(5000), env: 'OPENAI_API_KEY=svc_tsk_abc-DEF_1' })
  let deep: Json = []
  for (let i = 0; i < 20_000; i++) deep = [deep]
  log.recordResults([result('c1', deep)])
  expect(events).toMatchObject([
    { data: { input: { text: 'x'.repeat(4096), env: 'OPENAI_API_KEY=[removed]' }, truncated: true } },
    { data: { output: '[nested too deeply]' } },
  ])
})

test('a run that calls tools without end fills its log only up to a limit', () => {
  const { events, call } = toolLog()
  for (let i = 0; i < 3000; i++) call(`c${i}`)
  expect(events).toHaveLength(2000)
})
