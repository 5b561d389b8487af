import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json.ts'
import type { Terminal } from '../../src/cli/shell/terminal.ts'
import { createTimeline } from '../../src/cli/tasks/timeline.ts'

/** What the timeline says of one event. */
function timelineText(type: string, data: JsonObject): string {
  const lines: string[] = []
  const terminal: Terminal = {
    isJson: false,
    isInteractive: false,
    print: (line) => void lines.push(line),
    write: () => {},
    printJson: () => {},
    note: () => {},
    styled: (_style, text) => text,
    ask: () => Promise.resolve(null),
    close: () => {},
  }
  createTimeline(terminal)({ id: 1, type, ts: '2026-03-02T09:00:00.000Z', data, source: {} })
  return lines.join('\n')
}

const requestedApproval = { approval_id: 'apr_1', action: 'payments:refund', risk: 'high', preview: {} }

test('a question in the timeline says through which connection the action goes', () => {
  expect(timelineText('approval.requested', { ...requestedApproval, connection: 'post' })).toBe(
    '09:00:00 ? payments:refund through post waits for approval apr_1 (risk high)',
  )
})

test('a question of an older log, or about a tool, has no connection to tell of', () => {
  expect(timelineText('approval.requested', requestedApproval)).toBe(
    '09:00:00 ? payments:refund waits for approval apr_1 (risk high)',
  )
})

test('a task that ended before it began ran in no sandbox', () => {
  const created = { wedge: 'desk', task_type: 'pay', status: 'running', sandbox: 'none', model: 'none' }
  expect(timelineText('task.created', created)).toBe('09:00:00 ▶ desk/pay ends before it runs')
  expect(timelineText('task.created', { ...created, sandbox: 'bwrap', model: 'openai/x' })).toBe(
    '09:00:00 ▶ desk/pay runs in bwrap with openai/x',
  )
})

test('what is wrong with an output is told without control characters', () => {
  const errors = [{ path: '/a\u202eb', message: 'must be\u009b2J a string' }]
  expect(timelineText('output.validated', { ok: false, errors })).toBe(
    '09:00:00 ✗ the output is wrong: /a�b must be�2J a string',
  )
})
