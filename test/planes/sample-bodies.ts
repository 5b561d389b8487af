import type { SeededProject } from './two-tenants.ts'

/** A body that each route accepts in a seeded project. Routes that are not listed accept an empty body. */
export function sampleBodies({ ids }: SeededProject): Record<string, Record<string, unknown>> {
  const task = { wedge: 'desk', task_type: 'triage' }
  const request = { ...task, input: 1, actor: null, constraints: { max_cost_usd: 1 }, tools: [], output_schema: null }
  const person = { email: 'new@example.com', password: 'correct horse battery', name: 'New' }
  return {
    'POST /v1/tasks': request,
    'POST /v1/tasks/:id/feedback': { rating: 5, correction: 'be kind', note: 'good' },
    'POST /v1/approvals/:id/approve': { edited: { to: 'bob@example.com' }, note: 'fine' },
    'POST /v1/approvals/:id/reject': { reason: 'no' },
    'POST /v1/connections': { kind: 'email', name: 'other', config: {}, secret_ref: null },
    'PUT /v1/connections/:id': { kind: 'email', name: 'mail', config: {}, secret_ref: null },
    'POST /v1/connections/:id/secret': { value: 'secret' },
    'PUT /v1/connections/:id/tools/:name': { class: 'read', hash: 'x' },
    'POST /v1/broker/toolkits/:toolkit/connect': { client_id: ids.clients, read_tools: ['GMAIL_LIST'] },
    'POST /v1/connections/:id/broker/connect': { callback_url: 'https://example.com/' },
    'POST /v1/channels': { connection_id: ids.connections, address: 'new@example.com', ...task },
    'POST /v1/channels/:id/inbound': {
      from: { handle: 'bob@example.com' },
      body: 'hi',
      subject: 'hi',
      external_id: 'm1',
    },
    'POST /v1/clients': { display_name: 'Cleo', handles: ['cleo@example.com'], metadata: {} },
    'PUT /v1/clients/:id': { display_name: 'Ada', handles: ['ada@example.com'], metadata: {} },
    'PUT /v1/brand': { name: 'Desk', color: '#1f4fd1', welcome: 'Hello', language: 'en' },
    'PUT /v1/threads/:id': { status: 'open' },
    'POST /v1/threads/:id/messages': { body: 'hello' },
    'POST /v1/wedges/:wedge/knowledge': { name: 'a', content: 'b', kind: 'note', source: null, metadata: {} },
    'PUT /v1/knowledge/:id': { name: 'a', content: 'b', kind: 'note', source: null, metadata: {} },
    'POST /v1/wedges/:wedge/intake/:question': { response: 'nine to five' },
    'POST /v1/wedges/:wedge/policy/simulate': { auto_approve: [{ action: 'mail:send' }] },
    'POST /v1/cases': { wedge: 'desk', title: 'x', client_id: ids.clients, stage: 'new', data: {} },
    'PUT /v1/cases/:id': { title: 'x', stage: 'new', data: {}, status: 'open', note: 'x' },
    'POST /v1/cases/:id/tasks': { ...request, wedge: undefined },
    'POST /v1/records': { wedge: 'desk', collection: 'c', key: 'k', value: 1 },
    'POST /v1/schedules': { name: 'n', ...task, cadence: { kind: 'every', seconds: 3600 }, input: 1, enabled: false },
    'PUT /v1/schedules/:id': {
      name: 'daily',
      ...task,
      cadence: { kind: 'every', seconds: 3600 },
      input: 1,
      enabled: false,
    },
    'POST /v1/webhooks': { url: 'https://hooks.example/', events: ['task.finished'], enabled: false },
    'PUT /v1/webhooks/:id': { url: 'https://hooks.example/', events: ['task.finished'], enabled: false },
    'POST /mcp': { jsonrpc: '2.0', id: 1, method: 'ping', params: {} },
    'POST /v1/projects': { name: 'P', tier: 'default', wedges: null },
    'PUT /v1/projects/:id': { name: 'P', tier: 'default', wedges: null },
    'POST /v1/keys': { name: 'k', role: 'viewer' },
    'POST /v1/members': { email: 'm@example.com', role: 'viewer' },
    'PUT /v1/members/:id': { name: 'M', role: 'viewer' },
    'POST /v1/auth/signup': { ...person, organisation: 'New' },
    'POST /v1/auth/login': { email: 'owner@example.com', password: 'correct horse battery' },
    'POST /v1/auth/accept': { invite: 'svc_inv_x', password: 'correct horse battery', name: 'New' },
    'POST /v1/portal/session': { token: 'svc_plt_x' },
    'POST /v1/portal/threads/:id/messages': { body: 'hello' },
    'POST /v1/portal/questions/:id/answer': { answer: 'hello' },
  }
}
