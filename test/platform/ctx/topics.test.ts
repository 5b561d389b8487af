import { expect, test } from 'vitest'
import { Notifications } from '../../../src/platform/ctx/notifications.ts'
import {
  decodeNotification,
  encodeNotification,
  type Notification,
  type SharedNotification,
} from '../../../src/platform/ctx/topics.ts'

const SHARED: SharedNotification[] = [
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

test.each(SHARED)('the notification $topic is the same after LISTEN/NOTIFY', (notification) => {
  const text = encodeNotification(notification)
  expect(text).not.toMatch(/\s/)
  expect(decodeNotification(text)).toEqual(notification)
})

test.each(['', 'unknown:1', 'task-ended', 'task-ended:', 'project-changed:prj_1', 'project-changed:prj_1:x:y:z'])(
  'the text %j is not a notification',
  (text) => {
    expect(decodeNotification(text)).toBeNull()
  },
)

test('a subscriber gets the notifications of its topic and id until it unsubscribes', () => {
  const notifications = new Notifications()
  const received: Notification[] = []
  const unsubscribe = notifications.subscribe({ topic: 'task-ended', id: 'task_1' }, (one) => received.push(one))
  const other: Notification = { topic: 'task-ended', id: 'task_2' }
  for (const one of [...SHARED, other]) notifications.publish(one)
  unsubscribe()
  notifications.publish({ topic: 'task-ended', id: 'task_1' })
  expect(received).toEqual([{ topic: 'task-ended', id: 'task_1' }])
})
