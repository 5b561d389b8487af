import { PASSWORD } from '../accounts/people.ts'
import { DAILY, IDLE, MAIL, type Office } from './office.ts'

/** A call that changes something: what stands in its path and body, and who makes it. */
export interface Made {
  /** By the word before `:id` in the path, or by the parameter's own name. */
  ids?: Record<string, string>
  body?: unknown
  /** The project's key unless told otherwise; null: nobody's. */
  key?: string | null
  /** What the entry is about where neither the path nor the answer names it. */
  about?: string
  /** Who did it, where it was not the caller. */
  by?: 'system'
}

export interface Audited {
  /** The action that the entry tells of. */
  leaves: string
  /** What is about people and projects is in the chain of the organisation; who signs up gets one of their own. */
  chain: 'project' | 'organisation' | 'own'
  /** Makes what the call needs; the call itself comes after it. */
  call: (office: Office) => Made | Promise<Made>
}

const project = (leaves: string, call: Audited['call']): Audited => ({ leaves, call, chain: 'project' })
const organisation = (leaves: string, call: Audited['call']): Audited => ({ leaves, call, chain: 'organisation' })

const caseOf = (office: Office) => office.id('/v1/cases', { wedge: 'desk' })
const scheduleOf = (office: Office) => office.id('/v1/schedules', { ...DAILY, name: office.fresh() })
const connectionOf = (office: Office, more: object = {}) =>
  office.id('/v1/connections', { ...MAIL, name: office.fresh(), ...more })
const noteOf = (office: Office) => office.id('/v1/wedges/desk/knowledge', { name: office.fresh(), content: 'so' })
const webhookOf = (office: Office, more: object = {}) =>
  office.id('/v1/webhooks', { url: office.outside.url, events: ['task.finished'], enabled: false, ...more })
const brokered = (office: Office) => connectionOf(office, { kind: 'broker', config: { toolkit: 'gmail' } })

const TASKS: Record<string, Audited> = {
  'POST /v1/tasks': project('task.created', () => ({ body: IDLE })),
  'POST /v1/tasks/:id/cancel': project('task.cancelled', async (office) => ({
    ids: { tasks: (await office.waiting()).task },
  })),
  'POST /v1/tasks/:id/retry': project('task.created', async (office) => ({ ids: { tasks: await office.overTask() } })),
  'POST /v1/tasks/:id/feedback': project('task.feedback', async (office) => ({
    ids: { tasks: await office.overTask() },
    body: { rating: 5 },
  })),
  'POST /v1/approvals/:id/approve': project('approval.approved', async (office) => ({
    ids: { approvals: (await office.waiting()).approval },
  })),
  'POST /v1/approvals/:id/reject': project('approval.rejected', async (office) => ({
    ids: { approvals: (await office.waiting()).approval },
  })),
}

const CONNECTIONS: Record<string, Audited> = {
  'POST /v1/connections': project('connection.created', (office) => ({ body: { ...MAIL, name: office.fresh() } })),
  'PUT /v1/connections/:id': project('connection.updated', async (office) => ({
    ids: { connections: await connectionOf(office) },
    body: { name: office.fresh() },
  })),
  'DELETE /v1/connections/:id': project('connection.deleted', async (office) => ({
    ids: { connections: await connectionOf(office) },
  })),
  'POST /v1/connections/:id/secret': project('secret.written', async (office) => ({
    ids: { connections: await connectionOf(office) },
    body: { value: 'open sesame' },
  })),
  'POST /v1/connections/:id/test': project('connection.tested', async (office) => ({
    ids: { connections: await connectionOf(office, { config: { api_url: office.outside.url } }) },
  })),
  'POST /v1/broker/toolkits/:toolkit/connect': project('connection.authorising', () => ({
    ids: { toolkit: 'gmail' },
    body: {},
  })),
  'POST /v1/connections/:id/broker/connect': project('connection.authorising', async (office) => ({
    ids: { connections: await brokered(office) },
    body: {},
  })),
  // It asks the provider, and keeps what that says.
  'GET /v1/connections/:id/broker/status': project('connection.connected', async (office) => {
    const id = await brokered(office)
    await office.call('POST', `/v1/connections/${id}/broker/connect`, {})
    for (const account of office.broker.accounts.keys()) office.broker.authorise(account)
    return { ids: { connections: id }, by: 'system' }
  }),
}

const CLIENTS: Record<string, Audited> = {
  'POST /v1/channels': project('channel.created', async (office) => ({
    body: { ...IDLE, connection_id: await connectionOf(office), address: `${office.fresh()}@example.com` },
  })),
  'DELETE /v1/channels/:id': project('channel.deleted', async (office) => ({
    ids: { channels: await office.channel() },
  })),
  'POST /v1/channels/:id/inbound': project('message.received', async (office) => ({
    ids: { channels: await office.channel() },
    body: { from: { handle: `${office.fresh()}@example.com` }, body: 'Where is it?' },
  })),
  'POST /v1/clients': project('client.created', () => ({ body: { display_name: 'Ada' } })),
  'PUT /v1/clients/:id': project('client.updated', async (office) => ({
    ids: { clients: await office.id('/v1/clients') },
    body: { display_name: 'Ada' },
  })),
  'POST /v1/clients/:id/portal-link': project('portal.link_created', async (office) => ({
    ids: { clients: await office.id('/v1/clients') },
  })),
  'POST /v1/clients/:id/portal-revoke': project('portal.revoked', async (office) => ({
    ids: { clients: await office.id('/v1/clients') },
  })),
  'PUT /v1/threads/:id': project('thread.closed', async (office) => ({
    ids: { threads: (await office.customer()).thread },
    body: { status: 'closed' },
  })),
  'POST /v1/threads/:id/messages': project('thread.replied', async (office) => ({
    ids: { threads: (await office.customer()).thread },
    body: { body: 'It left on Monday.' },
  })),
  'POST /v1/portal/session': project('portal.session_opened', async (office) => {
    const { token } = await office.make(`/v1/clients/${await office.id('/v1/clients')}/portal-link`)
    return { body: { token }, key: null }
  }),
  'POST /v1/portal/threads/:id/messages': project('message.posted', async (office) => {
    const { thread, session } = await office.customer()
    return { ids: { threads: thread }, body: { body: 'Hello?' }, key: session }
  }),
}

const WORK: Record<string, Audited> = {
  'POST /v1/wedges/:wedge/knowledge': project('knowledge.created', (office) => ({
    ids: { wedge: 'desk' },
    body: { name: office.fresh(), content: 'so' },
  })),
  'PUT /v1/knowledge/:id': project('knowledge.updated', async (office) => ({
    ids: { knowledge: await noteOf(office) },
    body: { content: 'or so' },
  })),
  'DELETE /v1/knowledge/:id': project('knowledge.deleted', async (office) => ({
    ids: { knowledge: await noteOf(office) },
  })),
  'POST /v1/wedges/:wedge/intake/:question': project('intake.answered', () => ({
    ids: { wedge: 'desk', question: 'hours' },
    body: { answer: 'Nine to five.' },
  })),
  'POST /v1/wedges/:wedge/intake/:question/dismiss': project('intake.dismissed', () => ({
    ids: { wedge: 'desk', question: 'tone' },
  })),
  'POST /v1/cases': project('case.opened', () => ({ body: { wedge: 'desk' } })),
  'PUT /v1/cases/:id': project('case.updated', async (office) => ({
    ids: { cases: await caseOf(office) },
    body: { stage: 'done' },
  })),
  'POST /v1/cases/:id/tasks': project('task.created', async (office) => ({
    ids: { cases: await caseOf(office) },
    body: { task_type: 'idle' },
  })),
  'POST /v1/records': project('record.created', (office) => ({
    body: { wedge: 'desk', collection: 'notes', key: office.fresh(), value: 1 },
  })),
  'DELETE /v1/records/:id': project('record.deleted', async (office) => ({
    ids: { records: await office.id('/v1/records', { wedge: 'desk', collection: 'n', key: office.fresh(), value: 1 }) },
  })),
  'POST /v1/schedules': project('schedule.created', (office) => ({ body: { ...DAILY, name: office.fresh() } })),
  'PUT /v1/schedules/:id': project('schedule.updated', async (office) => ({
    ids: { schedules: await scheduleOf(office) },
    body: { name: office.fresh() },
  })),
  'DELETE /v1/schedules/:id': project('schedule.deleted', async (office) => ({
    ids: { schedules: await scheduleOf(office) },
  })),
  'POST /v1/schedules/:id/run': project('task.created', async (office) => ({
    ids: { schedules: await scheduleOf(office) },
  })),
  'POST /v1/blueprints/:slug/provision': project('blueprint.provisioned', () => ({ ids: { slug: 'desk' } })),
  'POST /v1/blueprints/:slug/activate': project('blueprint.activated', async (office) => {
    await office.call('POST', '/v1/blueprints/desk/provision')
    return { ids: { slug: 'desk' } }
  }),
  'POST /mcp': project('task.created', () => ({ body: mcpCall('run_task', { ...IDLE, wait_s: 0 }) })),
}

const WEBHOOKS: Record<string, Audited> = {
  'POST /v1/webhooks': project('webhook.created', ({ outside }) => ({
    body: { url: outside.url, events: ['task.finished'], enabled: false },
  })),
  'PUT /v1/webhooks/:id': project('webhook.updated', async (office) => ({
    ids: { webhooks: await webhookOf(office) },
    body: { events: ['approval.requested'] },
  })),
  'DELETE /v1/webhooks/:id': project('webhook.deleted', async (office) => ({
    ids: { webhooks: await webhookOf(office) },
  })),
  'POST /v1/webhooks/:id/rotate': project('webhook.rotated', async (office) => ({
    ids: { webhooks: await webhookOf(office) },
  })),
  'POST /v1/webhooks/:id/deliveries/:delivery/redeliver': project('webhook.redelivered', async (office) => {
    const webhooks = await webhookOf(office, { enabled: true })
    await office.overTask()
    const { data } = (await office.call('GET', `/v1/webhooks/${webhooks}/deliveries`)).body
    return { ids: { webhooks, delivery: data[0].id } }
  }),
}

const PEOPLE: Record<string, Audited> = {
  'POST /v1/projects': organisation('project.created', (office) => ({
    body: { name: office.fresh() },
    key: office.owner,
  })),
  'PUT /v1/projects/:id': project('project.updated', async (office) => ({
    ids: { projects: (await office.call('GET', '/v1/projects')).body.data[0].id },
    body: { tier: 'default' },
  })),
  'PUT /v1/projects/:id/wedges/:wedge': project('project.updated', async (office) => {
    const { id } = (await office.call('GET', '/v1/projects')).body.data[0]
    await office.call('PUT', `/v1/projects/${id}`, { wedges: [] })
    return { ids: { projects: id, wedge: 'desk' } }
  }),
  'POST /v1/keys': project('key.created', () => ({ body: { name: 'server' } })),
  'DELETE /v1/keys/:id': project('key.deleted', async (office) => ({
    ids: { keys: await office.id('/v1/keys', { name: 'server' }) },
  })),
  'POST /v1/members': organisation('member.invited', (office) => ({
    body: { email: `${office.fresh()}@example.com`, role: 'viewer' },
    key: office.owner,
  })),
  'PUT /v1/members/:id': organisation('member.updated', async (office) => ({
    ids: { members: (await office.member()).id },
    body: { role: 'operator' },
    key: office.owner,
  })),
  'DELETE /v1/members/:id': organisation('member.deleted', async (office) => ({
    ids: { members: (await office.member()).id },
    key: office.owner,
  })),
  'POST /v1/auth/signup': {
    leaves: 'member.signed_in',
    chain: 'own',
    call: (office) => ({ body: { email: `${office.fresh()}@example.com`, password: PASSWORD }, key: null }),
  },
  'POST /v1/auth/login': organisation('member.signed_in', () => ({
    body: { email: 'owner@example.com', password: PASSWORD },
    key: null,
  })),
  'POST /v1/auth/logout': organisation('member.signed_out', async (office) => {
    const { id, session } = await office.member()
    return { key: session, about: id }
  }),
  'POST /v1/auth/password': organisation('member.password_changed', async (office) => {
    const { id, session } = await office.member()
    return { body: { password: PASSWORD, new_password: `${PASSWORD}!` }, key: session, about: id }
  }),
  'POST /v1/auth/accept': organisation('member.accepted', async (office) => {
    const invited = { email: `${office.fresh()}@example.com`, role: 'viewer' }
    const { invite } = await office.make('/v1/members', invited, { key: office.owner })
    return { body: { invite, password: PASSWORD }, key: null }
  }),
}

/** Every route that changes something, by method and path. */
export const CALLS = { ...TASKS, ...CONNECTIONS, ...CLIENTS, ...WORK, ...WEBHOOKS, ...PEOPLE }

/** The tools of an assistant that change something; one door for all of them. */
export const TOOLS: Record<string, Audited> = {
  run_task: project('task.created', () => ({ body: mcpCall('run_task', { ...IDLE, wait_s: 0 }) })),
  decide_approval: project('approval.approved', async (office) => ({
    body: mcpCall('decide_approval', { approval_id: (await office.waiting()).approval, decision: 'approve' }),
  })),
}

/** What is no GET and changes nothing all the same. */
export const CHANGES_NOTHING: Record<string, Made> = {
  // Tries rules on approvals of the past.
  'POST /v1/wedges/:wedge/policy/simulate': { ids: { wedge: 'desk' }, body: { auto_approve: [{ action: 'send_it' }] } },
}

function mcpCall(name: string, given: object) {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }
}
