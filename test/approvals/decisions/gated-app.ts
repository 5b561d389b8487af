import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { type App, startApp } from '../../../src/server/app.ts'
import { createReplicaLease, renewReplicaLease } from '../../../src/execution/runs/replicas/replica-lease.ts'
import { startTestApp, type TestApp, writeFiles } from '../../app.ts'
import { type FakeUpstream, openFakeUpstream } from '../../fake-upstream.ts'
import type { StoreKind } from '../../stores.ts'

/** A service with a wedge of gated actions, and the server that its connections call. */
export interface GatedApp extends TestApp {
  outside: FakeUpstream
}

export const SECRET_KEY = Buffer.alloc(32, 7).toString('base64')

/** The input of a task says what its agent does: one action, three in a row, or one workflow. */
export const gatedWedgeFiles = (slug: string, manifest: object = {}) => ({
  [`${slug}/wedge.json`]: {
    wedge: slug,
    title: 'Gated work',
    connections: ['crm', 'mail', 'hook', 'tracker'],
    approvals: [
      { action: 'archive_order', risk: 'low', required: true },
      { action: 'book', risk: 'high' },
    ],
    workflows: [{ name: 'archive_order' }, { name: 'book_room' }, { name: 'delete_room' }, { name: 'look_up' }],
    task_types: { act: {}, thrice: {}, tool: {} },
    ...manifest,
  },
  ...Object.fromEntries(
    ['archive_order', 'book_room', 'delete_room', 'look_up'].map((name) => [
      `${slug}/workflows/${name}.mjs`,
      `export default (args) => ({ ${name}: args })`,
    ]),
  ),
  [`${slug}/rehearsals/act.json`]: [ACT_STEP, { output: '{{last}}' }],
  [`${slug}/rehearsals/thrice.json`]: [ACT_STEP, ACT_STEP, ACT_STEP, { output: '{{last}}' }],
  [`${slug}/rehearsals/tool.json`]: [
    { call: { tool: 'workflow', input: { name: '{{input.name}}', args: '{{input.args}}' } } },
    { output: '{{last}}' },
  ],
})

const ACT_STEP = {
  call: {
    tool: 'act',
    input: { connection: '{{input.connection}}', capability: '{{input.action}}', payload: '{{input.payload}}' },
  },
}

/** One service and one fake upstream server for all tests of a block. */
export function sharedGatedApp(
  store: StoreKind,
  {
    wedges = gatedWedgeFiles('gate'),
    env = {},
  }: { wedges?: Record<string, unknown>; env?: Record<string, string> } = {},
): () => GatedApp {
  let app: GatedApp
  beforeAll(async () => {
    app = await openGatedApp(store, wedges, env)
  })
  afterAll(async () => {
    await app?.stop()
    await app?.outside.close()
  })
  return () => app
}

export async function openGatedApp(
  store: StoreKind,
  wedges: Record<string, unknown>,
  env: Record<string, string> = {},
): Promise<GatedApp> {
  const outside = await openFakeUpstream()
  const app = await startTestApp({ store, wedges, env: { ...GATED_ENV, ...env } })
  await addConnections(app, outside.url)
  return { ...app, outside }
}

export const GATED_ENV = {
  SVC_EGRESS_ALLOW: '127.0.0.1',
  SVC_SECRET_KEY: SECRET_KEY,
  SVC_TASK_RATE_PER_MIN: '10000',
  SVC_OPEN_SIGNUP: '1',
}

/** Registers the connections of the wedge: one of each kind that needs no broker. */
export async function addConnections(app: Pick<TestApp, 'call'>, url: string): Promise<void> {
  const all = [
    { kind: 'custom', name: 'crm', config: { api_url: `${url}/crm`, base_url: `${url}/crm/` } },
    { kind: 'email', name: 'mail', config: { api_url: `${url}/mail` } },
    { kind: 'webhook', name: 'hook', config: { url: `${url}/hook` } },
  ]
  for (const connection of all) {
    const { status, body } = await app.call('POST', '/v1/connections', connection)
    expect(status).toBe(201)
    await app.call('POST', `/v1/connections/${body.id}/secret`, { value: `secret-of-${connection.name}` })
  }
}

/** Creates a task with one action, through `crm` by default. */
export function startAction(
  app: Pick<TestApp, 'createTask'>,
  input: Record<string, unknown> = {},
  more: Record<string, unknown> = {},
) {
  const given = { connection: 'crm', action: 'send_note', payload: { text: 'hello' }, ...input }
  return app.createTask({ wedge: 'gate', task_type: 'act', input: given, ...more })
}

/** The id of the n-th approval that the task requests, counted from one. */
export async function requestedApprovalId(app: Pick<TestApp, 'events'>, taskId: string, n = 1): Promise<string> {
  let seen = 0
  const events = await app.events(taskId, { until: ({ event }) => event === 'approval.requested' && ++seen === n })
  return events.at(-1)?.data.data.approval_id
}

/** The received calls with this idempotency key. */
export const callsFor = ({ outside }: GatedApp, approvalId: string) =>
  outside.received.filter(({ headers }) => headers['idempotency-key'] === approvalId)

/** Advances the clock second by second until the promise is settled. */
export async function advanceUntilSettled<T>(app: Pick<TestApp, 'clock'>, promise: Promise<T>): Promise<T> {
  const moving = setInterval(() => void app.clock.advance(1_000), 10)
  return promise.finally(() => clearInterval(moving))
}

/** Moves the clock at once. The heartbeat follows before any sweep, because replicas would see a dead one otherwise. */
export async function moveClock({ clock, ctx }: GatedApp, seconds: number): Promise<void> {
  clock.set(clock.now() + seconds * 1000)
  await renewReplicaLease(ctx, createReplicaLease(ctx), new AbortController().signal)
}

/** Another replica of the same deployment. Both share the store, the clock and the log. */
export const startReplica = (app: GatedApp): Promise<App> => startApp(app.ctx.config, app.ctx.world)

export const stopReplica = (app: GatedApp, replica: App): Promise<void> => advanceUntilSettled(app, replica.stop())

export function writeWedge(app: GatedApp, files: Record<string, unknown>): void {
  writeFiles(join(app.dir, 'wedges'), files)
}

/** An agent that makes the calls of its task's input, all at once or one after another. */
export const CALLER_AGENT = {
  'agent.mjs': `
    import http from 'node:http'
    let text = ''
    for await (const chunk of process.stdin) text += chunk
    const { task: { input }, service } = JSON.parse(text)
    const responses = input.together ? await Promise.all(input.calls.map(call)) : []
    if (!input.together) for (const one of input.calls) responses.push(await call(one))
    process.stdout.write(JSON.stringify({ output: responses }) + '\\n')
    function call({ method = 'POST', path, body, gate, token }) {
      return new Promise((resolve, reject) => {
        const bearer = token ?? (gate ? service.gate_token : service.task_token)
        const headers = { authorization: 'Bearer ' + bearer, ...(body && { 'content-type': 'application/json' }) }
        const request = http.request({ socketPath: service.socket, method, path: '/v1/internal/' + path, headers, agent: false })
        request.on('error', reject)
        request.on('response', (response) => {
          let received = ''
          response.setEncoding('utf8').on('data', (chunk) => (received += chunk))
          response.on('end', () => resolve({ status: response.statusCode, body: JSON.parse(received || 'null') }))
        })
        request.end(body && JSON.stringify(body))
      })
    }`,
}
