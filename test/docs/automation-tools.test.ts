import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import type { Json, JsonObject } from '../../src/platform/base/json.ts'
import { type TestApp, testApp } from '../app.ts'
import { requestedApproval } from '../frameworks/run-guide.ts'
import { openWebhookReceiver } from '../automation/webhooks/webhook-receiver.ts'
import { blocks, page, ROOT } from './pages.ts'

/** A request that a flow made, and its answer. */
interface FlowCall {
  method: string
  path: string
  status: number
  body: JsonObject
}

/** Starts at a node with a message, and does what this node and those behind it do. */
type RunFlow = (start: string, message: Json) => Promise<FlowCall[]>

interface FlowSettings {
  url: string
  key: string
}

const [N8N = '', NODE_RED = ''] = blocks(page('docs/automation-tools.md'), 'json')

test.each<[string, string, string, (settings: FlowSettings) => RunFlow]>([
  ['n8n', 'Start', 'Approval requested', n8nFlow],
  ['Node-RED', 'svc-start', 'svc-in', nodeRedFlow],
])(
  'the flow of the page for %s creates a task, and approves its request after the webhook',
  async (name, start, onWebhook, flow) => {
    const app = await testApp({
      store: 'sqlite',
      env: { SVC_SANDBOX: 'bwrap', SVC_WEDGES_DIR: join(ROOT, 'wedges'), SVC_EGRESS_ALLOW: '127.0.0.1/32' },
    })
    const key = (await app.call('POST', '/v1/keys', { name, role: 'operator' })).body.key
    const hook = await openWebhookReceiver(app, ['approval.requested'])
    const run = flow({ url: app.url, key })
    const [created] = await run(start, {})
    expect(created).toMatchObject({ method: 'POST', path: '/v1/tasks', status: 201 })
    const taskId = String(created?.body['id'])
    const approvalId = await requestedApproval(app, taskId)
    const [delivery] = await hook.arrived(approvalId)
    const webhook: JsonObject = JSON.parse(delivery?.body ?? '')
    expect((await run(onWebhook, webhook)).map(({ method, path, status }) => [method, path, status])).toEqual([
      ['GET', `/v1/approvals/${approvalId}`, 200],
      ['POST', `/v1/approvals/${approvalId}/approve`, 200],
    ])
    expect(await app.finished(taskId)).toMatchObject({ status: 'succeeded', output: { amount_usd: 80 } })
    expect(await approvalsOf(app, taskId)).toMatchObject([{ status: 'approved', note: `approved by ${name}` }])
    // A webhook that comes twice is only read.
    expect(await run(onWebhook, webhook)).toMatchObject([{ method: 'GET', status: 200 }])
    await hook.close()
  },
)

const approvalsOf = async (app: TestApp, taskId: string) =>
  (await app.call('GET', `/v1/approvals?task_id=${taskId}`)).body.data

async function sendRequest(method: string, url: string, key: string, body: string | undefined): Promise<FlowCall> {
  const headers = { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) }
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) })
  return { method, path: new URL(url).pathname, status: response.status, body: (await response.json()) as JsonObject }
}

interface N8nNode {
  name: string
  type: string
  parameters: {
    method?: string
    url?: string
    jsonBody?: string
    genericAuthType?: string
    conditions?: { conditions: { leftValue: string; rightValue: Json; operator: { operation: 'equals' | 'lte' } }[] }
  }
}

/** What the nodes of n8n do with these parameters, as far as the workflow uses them. */
function n8nFlow({ url, key }: FlowSettings): RunFlow {
  const { nodes, connections }: { nodes: N8nNode[]; connections: Record<string, { main: { node: string }[][] }> } =
    JSON.parse(N8N.replaceAll('http://127.0.0.1:8787', url))
  const run = async (name: string, json: Json, calls: FlowCall[]): Promise<FlowCall[]> => {
    const node = nodes.find((one) => one.name === name) ?? expect.fail(`no node ${name}`)
    const { conditions, method = '', url: address, jsonBody, genericAuthType } = node.parameters
    let result = node.type.endsWith('.webhook') ? { body: json } : json
    if (node.type.endsWith('.httpRequest')) {
      expect(genericAuthType).toBe('httpHeaderAuth')
      const body = jsonBody === undefined ? undefined : String(evaluate(jsonBody, json))
      const call = await sendRequest(method, String(evaluate(address, json)), key, body)
      calls.push(call)
      result = call.body
    }
    const holds = (conditions?.conditions ?? []).every(({ leftValue, rightValue, operator }) => {
      const left = evaluate(leftValue, json)
      return operator.operation === 'lte' ? Number(left) <= Number(rightValue) : left === rightValue
    })
    for (const next of connections[name]?.main[holds ? 0 : 1] ?? []) await run(next.node, result, calls)
    return calls
  }
  return (start, message) => run(start, message, [])
}

/** A text that begins with `=` is a template with JavaScript between double braces. */
function evaluate(value: Json | undefined, json: Json): unknown {
  if (typeof value !== 'string' || !value.startsWith('=')) return value
  const [whole, expression] = /^=\{\{((?:(?!\{\{).)*)\}\}$/.exec(value) ?? []
  const execute = (code = '') => runInNewContext(code, { $json: json }) as unknown
  return whole === undefined
    ? value.slice(1).replaceAll(/\{\{(.*?)\}\}/g, (_, code) => String(execute(code)))
    : execute(expression)
}

interface NodeRedNode {
  id: string
  type: string
  func?: string
  wires?: string[][]
}

/** What the nodes of Node-RED do with these fields, as far as the flow uses them. */
function nodeRedFlow({ url, key }: FlowSettings): RunFlow {
  const nodes: NodeRedNode[] = JSON.parse(NODE_RED)
  const env = { get: (name: string) => ({ SVC_URL: url, SVC_KEY: key })[name] }
  const run = async (id: string, given: JsonObject, calls: FlowCall[]): Promise<FlowCall[]> => {
    const { type, func = '', wires = [] } = nodes.find((one) => one.id === id) ?? expect.fail(`no node ${id}`)
    let message: JsonObject | null = structuredClone(given)
    if (type === 'function')
      message = runInNewContext(`(() => {${func}\n})()`, { msg: message, env }) as JsonObject | null
    if (message === null) return calls
    if (type === 'http request') {
      const { method, url: address, headers, payload } = message
      expect(headers).toEqual({ authorization: `Bearer ${key}` })
      const body = method === 'GET' ? undefined : JSON.stringify(payload)
      const call = await sendRequest(String(method), String(address), key, body)
      calls.push(call)
      message = { ...message, payload: call.body, statusCode: call.status }
    }
    for (const next of wires[0] ?? []) await run(next, message, calls)
    return calls
  }
  return (start, payload) => run(start, { payload }, [])
}
