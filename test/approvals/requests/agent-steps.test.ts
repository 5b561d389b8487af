import { expect, test } from 'vitest'
import { describeSteps } from '../../../src/approvals/decisions/agent-steps.ts'

const event = (type: string, data: object, second = 0) => ({
  type,
  ts: `2026-01-01T00:00:0${second}.000Z`,
  data: JSON.stringify(data),
})

const call = (call_id: string, ok: boolean) => [
  event('tool.called', { call_id, tool: 'read_url', input: { url: call_id } }),
  event('tool.result', { call_id, tool: 'read_url', ok }),
]

const texts = (oldestFirst: ReturnType<typeof event>[]) =>
  describeSteps(oldestFirst.toReversed()).map(({ text }) => text)

test('each finished call and each thing said is one line, oldest first', () => {
  const events = [
    event('token.delta', { text: 'I will\nlook ' }),
    event('token.delta', { text: 'it up.' }),
    ...call('a', true),
    event('progress', { text: 'half done' }),
    ...call('b', false),
    event('token.delta', { text: 'Now I ask.' }),
  ]
  expect(texts(events)).toEqual([
    'I will look it up.',
    'read_url {"url":"a"}',
    'half done',
    'read_url (failed) {"url":"b"}',
    'Now I ask.',
  ])
})

test('the call that asks, which has no result yet, and a change of process are left out', () => {
  const events = [
    event('progress', { text: 'the run left its process', state: 'parked' }),
    event('tool.called', { call_id: 'c', tool: 'act', input: {} }),
  ]
  expect(texts(events)).toEqual([])
})

test('the newest ten are shown, and a long line is cut', () => {
  const events = Array.from({ length: 12 }, (_, n) => event('progress', { text: `${n} ${'x'.repeat(300)}` }))
  const shown = texts(events)
  expect(shown).toHaveLength(10)
  expect(shown[0]).toMatch(/^2 x+…$/)
  expect(shown.every((text) => text.length === 200)).toBe(true)
})
