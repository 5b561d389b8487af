import { expect, test } from 'vitest'
import { ChangeHints } from '../../../src/platform/ctx/change-hints.ts'
import { decodeHint, encodeHint, type ChangeHint, type SharedHint } from '../../../src/platform/ctx/topics.ts'

const SHARED: SharedHint[] = [
  { topic: 'task-queued' },
  { topic: 'log-appended', id: 'task_1' },
  { topic: 'task-ended', id: 'task_1' },
  { topic: 'approval-decided', id: 'apr_1' },
  { topic: 'key-revoked', id: 'key_1' },
  { topic: 'member-removed', id: 'mem_1' },
  { topic: 'session-ended', id: 'a'.repeat(64) },
  { topic: 'portal-revoked', id: 'cli_1' },
  { topic: 'project-changed', id: 'prj_1', change: { kind: 'task', id: 'task_1', status: 'running' } },
]

test.each(SHARED)('the hint $topic is the same after LISTEN/NOTIFY', (hint) => {
  const text = encodeHint(hint)
  expect(text).not.toMatch(/\s/)
  expect(decodeHint(text)).toEqual(hint)
})

test.each(['', 'unknown:1', 'task-ended', 'task-ended:', 'project-changed:prj_1', 'project-changed:prj_1:x:y:z'])(
  'the text %j is not a hint',
  (text) => {
    expect(decodeHint(text)).toBeNull()
  },
)

test('a subscriber gets the hints of its topic and id until it unsubscribes', () => {
  const hints = new ChangeHints()
  const received: ChangeHint[] = []
  const unsubscribe = hints.subscribe({ topic: 'task-ended', id: 'task_1' }, (one) => received.push(one))
  const other: ChangeHint = { topic: 'task-ended', id: 'task_2' }
  for (const one of [...SHARED, other]) hints.publish(one)
  unsubscribe()
  hints.publish({ topic: 'task-ended', id: 'task_1' })
  expect(received).toEqual([{ topic: 'task-ended', id: 'task_1' }])
})
