import { expect } from 'vitest'
import { testApp, type TestApp } from '../../app.ts'
import { GATED_ENV } from '../../approvals/decisions/gated-app.ts'
import type { StoreKind } from '../../stores.ts'
import { openMcpServer, type TestMcpServer } from './mcp-server.ts'

const step = (tool: string) => [
  {
    call: {
      tool,
      input: { capability: '{{input.capability}}', payload: '{{input.args}}', arguments: '{{input.args}}' },
    },
  },
  { output: '{{last}}' },
]

export const MCP_WEDGE = {
  'desk/wedge.json': {
    wedge: 'desk',
    title: 'Desk',
    connections: ['notes'],
    task_types: { act: {}, read: {}, inbound: {} },
  },
  'desk/rehearsals/act.json': step('act'),
  'desk/rehearsals/read.json': step('read'),
  'desk/rehearsals/inbound.json': [
    { call: { tool: 'read', input: { capability: 'notes:echo', arguments: { text: 'hi' } } } },
    { output: '{{last}}' },
  ],
}

export interface McpApp extends TestApp {
  server: TestMcpServer
  /** The path of the connection `notes`. */
  path: string
}

/** A service with the connection `notes` to a test server, whose tools have these classes. */
export async function openMcpApp(
  store: StoreKind,
  classes: Record<string, 'read' | 'ask' | 'off'>,
  { server, env = {} }: { server?: TestMcpServer; env?: Record<string, string> } = {},
): Promise<McpApp> {
  const opened = server ?? (await openMcpServer())
  const app = await testApp({ store, wedges: MCP_WEDGE, env: { ...GATED_ENV, ...env } })
  const path = await connectServer(app, opened, classes)
  return { ...app, server: opened, path }
}

export async function connectServer(
  app: TestApp,
  { url }: Pick<TestMcpServer, 'url'>,
  classes: Record<string, string>,
  more: Record<string, unknown> = {},
): Promise<string> {
  const created = await app.call('POST', '/v1/connections', { kind: 'mcp', name: 'notes', config: { url }, ...more })
  expect(created.status, JSON.stringify(created.body)).toBe(201)
  const path = `/v1/connections/${created.body.id}`
  expect((await app.call('POST', `${path}/tools/refresh`)).status).toBe(200)
  for (const [name, value] of Object.entries(classes))
    expect((await app.call('PUT', `${path}/tools/${name}`, { class: value })).status).toBe(200)
  return path
}

/** Starts a task whose agent calls one tool. */
export const startCall = (app: TestApp, task_type: 'act' | 'read', args: unknown = { text: 'hi' }, more: object = {}) =>
  app.createTask({ wedge: 'desk', task_type, input: { capability: 'notes:echo', args }, ...more })

/** The pending approval or question of the task, once there is one. */
export async function pendingApproval(app: TestApp, taskId: string, n = 1) {
  let seen = 0
  const events = await app.events(taskId, {
    until: ({ event }) => event === 'task.finished' || (event === 'approval.requested' && ++seen === n),
  })
  const { body } = await app.call('GET', `/v1/approvals?task_id=${taskId}&status=pending`)
  expect(body.data, JSON.stringify(events.at(-1))).toHaveLength(1)
  return body.data[0]
}

/** Approves the only pending request of the task and returns the ended task. */
export async function approveAndFinish(app: TestApp, taskId: string, decision: object = {}) {
  const { approval_id } = await pendingApproval(app, taskId)
  expect((await app.call('POST', `/v1/approvals/${approval_id}/approve`, decision)).status).toBe(200)
  return app.finished(taskId)
}
