import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/platform/base/json.ts'
import type { Terminal } from '../../../src/programs/cli/shell/terminal.ts'
import { createTimeline } from '../../../src/programs/cli/tasks/timeline.ts'

/** The text that the timeline prints for one event. */
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

test('the timeline shows the connection of a requested approval', () => {
  expect(timelineText('approval.requested', { ...requestedApproval, connection: 'post' })).toBe(
    '09:00:00 ? payments:refund through post needs approval apr_1 (risk high)',
  )
})

test('the timeline shows no connection for a tool', () => {
  expect(timelineText('approval.requested', requestedApproval)).toBe(
    '09:00:00 ? payments:refund needs approval apr_1 (risk high)',
  )
})

test('the timeline shows sandbox and model of a task, unless it ended before it ran', () => {
  const created = { wedge: 'desk', task_type: 'pay', status: 'running', sandbox: 'none', model: 'none' }
  expect(timelineText('task.created', created)).toBe('09:00:00 ▶ desk/pay ended before it ran')
  expect(timelineText('task.created', { ...created, sandbox: 'bwrap', model: 'openai/x' })).toBe(
    '09:00:00 ▶ desk/pay started · sandbox: bwrap · model: openai/x',
  )
})

test('the timeline prints schema errors without control characters', () => {
  const errors = [{ path: '/a\u202eb', message: 'must be\u009b2J a string' }]
  expect(timelineText('output.validated', { ok: false, errors })).toBe(
    '09:00:00 ✗ output does not match its schema: /a�b must be�2J a string',
  )
})
