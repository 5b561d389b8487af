import { expect } from 'vitest'
import { inTx } from '../../src/ctx/ctx.ts'
import { appendEvents } from '../../src/events/append-events.ts'
import type { NewEvent } from '../../src/events/event-types.ts'
import { findTaskUnscoped } from '../../src/tasks/rows.ts'
import { ECHO_WEDGE, type TestApp } from '../app.ts'
import type { ApiResponse } from '../http.ts'

/**
 * An agent whose task's input is what it says, line by line. The words `hang` and `crash` are what it does instead;
 * one that hangs goes by itself in the end, so that nothing is left behind by a test that dies.
 */
const AGENT_COMMAND = `node -e '
require("readline").createInterface({ input: process.stdin }).once("line", (line) => {
  for (const said of [JSON.parse(line).task.input].flat()) {
    if (said === "hang") setTimeout(() => {}, 120_000)
    else if (said === "crash") process.exit(3)
    else console.log(JSON.stringify(said))
  }
})'`

export const SCRIPTED_AGENT = { SVC_AGENT_COMMAND: AGENT_COMMAND }
export const NO_RATE_LIMIT = { SVC_TASK_RATE_PER_MIN: '1000000' }

const IDLE_TASK_TYPE = { harness: { needs_connections: true } }

/** `desk.idle` ends before a sandbox starts, for want of a connection; `desk.gated` waits for a person. */
export const DESK_WEDGES = {
  ...ECHO_WEDGE,
  'desk/wedge.json': {
    wedge: 'desk',
    connections: ['absent'],
    task_types: { idle: IDLE_TASK_TYPE, gated: {}, strict: { harness: { max_runtime_s: 60, max_cost_usd: 0.5 } } },
    workflows: [{ name: 'send_it' }],
  },
  'desk/workflows/send_it.mjs': 'export default () => ({ sent: true })',
  'desk/rehearsals/gated.json': [
    { call: { tool: 'workflow', input: { name: 'send_it', args: {} } } },
    { output: { sent: true } },
  ],
}

/** A task that runs and goes on running until somebody ends it. */
export async function startScriptedTask(app: TestApp, input: unknown = ['hang']): Promise<string> {
  const { id } = await app.createTask({ input })
  await app.events(id, { until: ({ event }) => event === 'task.created' })
  return id
}

/** Appends to the log of a running task as its run would. */
export async function appendAsRun(app: TestApp, taskId: string, events: NewEvent[]): Promise<void> {
  const task = await findTaskUnscoped(app.ctx.db, taskId)
  if (!task) throw new Error(`no such task: ${taskId}`)
  await inTx(app.ctx, (tx) => appendEvents(tx, { taskId, epoch: task.epoch }, events))
}

export const progressEvents = (count: number, text = 'on it'): NewEvent[] =>
  Array.from({ length: count }, (_, i) => ({ type: 'progress', data: { text: `${text} ${i}` } }))

export async function cancelTask(app: TestApp, taskId: string): Promise<ApiResponse> {
  return app.call('POST', `/v1/tasks/${taskId}/cancel`)
}

export async function readTask(app: TestApp, taskId: string): Promise<ApiResponse['body']> {
  return (await app.call('GET', `/v1/tasks/${taskId}`)).body
}

/** The one shape of every refusal: a lower-case sentence and nothing else. */
export function expectRefusal(answer: ApiResponse, status: number, error?: string | RegExp): void {
  expect({ status: answer.status, body: answer.body }).toEqual({
    status,
    body: { error: expect.stringMatching(error ?? /./) },
  })
  expect(answer.body.error).toMatch(/^[^A-Z]/)
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  expect(answer.headers.get('x-request-id')).toMatch(/./)
}
