import { expect } from 'vitest'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { appendEvents } from '../../../src/work/events/append-events.ts'
import type { NewEvent } from '../../../src/work/events/event-types.ts'
import { findTaskUnscoped } from '../../../src/work/tasks/rows.ts'
import { ECHO_WEDGE, type TestApp } from '../../app.ts'
import type { ApiResponse } from '../../http.ts'

/**
 * An agent that prints the input of its task, line by line. The inputs `hang` and `crash` make it hang or crash instead.
 * It stops hanging after two minutes, so that no process is left behind by a test that dies.
 */
const AGENT_COMMAND = `node -e '
require("readline").createInterface({ input: process.stdin }).once("line", (line) => {
  for (const step of [JSON.parse(line).task.input].flat()) {
    if (step === "hang") setTimeout(() => {}, 120_000)
    else if (step === "crash") process.exit(3)
    else console.log(JSON.stringify(step))
  }
})'`

export const SCRIPTED_AGENT = { SVC_AGENT_COMMAND: AGENT_COMMAND }
export const NO_RATE_LIMIT = { SVC_TASK_RATE_PER_MIN: '1000000' }

const IDLE_TASK_TYPE = { harness: { needs_connections: true } }

/** `desk.idle` fails before a sandbox starts, because its connection is missing; `desk.gated` waits for an approval. */
/** Has an input schema, and no rehearsal. */
const TYPED = {
  input_schema: { type: 'object', required: ['order_id'], properties: { order_id: { type: 'string' } } },
}

export const DESK_WEDGES = {
  ...ECHO_WEDGE,
  'desk/wedge.json': {
    wedge: 'desk',
    connections: ['absent'],
    task_types: {
      idle: IDLE_TASK_TYPE,
      gated: {},
      strict: { harness: { max_runtime_s: 60, max_cost_usd: 0.5 } },
      typed: TYPED,
    },
    workflows: [{ name: 'send_it' }],
  },
  'desk/workflows/send_it.mjs': 'export default () => ({ sent: true })',
  'desk/rehearsals/gated.json': [
    { call: { tool: 'workflow', input: { name: 'send_it', args: {} } } },
    { output: { sent: true } },
  ],
}

/** Starts a task that runs until the test ends it. */
export async function startScriptedTask(app: TestApp, input: unknown = ['hang']): Promise<string> {
  const { id } = await app.createTask({ input })
  await app.events(id, { until: ({ event }) => event === 'task.created' })
  return id
}

/** Appends events to the log of a running task as its run would. */
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

/** Expects an error response: only the field `error`, with a lower-case sentence. */
export function expectRefusal(response: ApiResponse, status: number, error?: string | RegExp): void {
  expect({ status: response.status, body: response.body }).toEqual({
    status,
    body: { error: expect.stringMatching(error ?? /./) },
  })
  expect(response.body.error).toMatch(/^[^A-Z]/)
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  expect(response.headers.get('x-request-id')).toMatch(/./)
}
