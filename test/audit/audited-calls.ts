import { PASSWORD } from '../accounts/members.ts'
import { DAILY, IDLE, MAIL, type PopulatedApp } from './populated-app.ts'

/** A call that changes something: what stands in its path and body, and who makes it. */
export interface CallInput {
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

export interface AuditedCall {
  /** The action that the entry tells of. */
  action: string
  /** What is about people and projects is in the chain of the organisation; who signs up gets one of their own. */
  chain: 'project' | 'organisation' | 'own'
  /** Makes what the call needs; the call itself comes after it. */
  call: (office: PopulatedApp) => CallInput | Promise<CallInput>
}

const onProject = (leaves: string, call: AuditedCall['call']): AuditedCall => ({
  action: leaves,
  call,
  chain: 'project',
})
const onOrganisation = (leaves: string, call: AuditedCall['call']): AuditedCall => ({
  action: leaves,
  call,
  chain: 'organisation',
})

const createCase = (office: PopulatedApp) => office.createId('/v1/cases', { wedge: 'desk' })
const createSchedule = (office: PopulatedApp) =>
  office.createId('/v1/schedules', { ...DAILY, name: office.uniqueWord() })
const createConnection = (office: PopulatedApp, more: object = {}) =>
  office.createId('/v1/connections', { ...MAIL, name: office.uniqueWord(), ...more })
const createKnowledge = (office: PopulatedApp) =>
  office.createId('/v1/wedges/desk/knowledge', { name: office.uniqueWord(), content: 'so' })
const createWebhook = (office: PopulatedApp, more: object = {}) =>
  office.createId('/v1/webhooks', { url: office.outside.url, events: ['task.finished'], enabled: false, ...more })
const createBrokerConnection = (office: PopulatedApp) =>
  createConnection(office, { kind: 'broker', config: { toolkit: 'gmail' } })

const TASKS: Record<string, AuditedCall> = {
  'POST /v1/tasks': onProject('task.created', () => ({ body: IDLE })),
  'POST /v1/tasks/:id/cancel': onProject('task.cancelled', async (office) => ({
    ids: { tasks: (await office.taskAwaitingApproval()).task },
  })),
  'POST /v1/tasks/:id/retry': onProject('task.created', async (office) => ({
    ids: { tasks: await office.finishedTask() },
  })),
  'POST /v1/tasks/:id/feedback': onProject('task.feedback', async (office) => ({
    ids: { tasks: await office.finishedTask() },
    body: { rating: 5 },
  })),
  'POST /v1/approvals/:id/approve': onProject('approval.approved', async (office) => ({
    ids: { approvals: (await office.taskAwaitingApproval()).approval },
  })),
  'POST /v1/approvals/:id/reject': onProject('approval.rejected', async (office) => ({
    ids: { approvals: (await office.taskAwaitingApproval()).approval },
  })),
}

const CONNECTIONS: Record<string, AuditedCall> = {
  'POST /v1/connections': onProject('connection.created', (office) => ({
    body: { ...MAIL, name: office.uniqueWord() },
  })),
  'PUT /v1/connections/:id': onProject('connection.updated', async (office) => ({
    ids: { connections: await createConnection(office) },
    body: { name: office.uniqueWord() },
  })),
  'DELETE /v1/connections/:id': onProject('connection.deleted', async (office) => ({
    ids: { connections: await createConnection(office) },
  })),
  'POST /v1/connections/:id/secret': onProject('secret.written', async (office) => ({
    ids: { connections: await createConnection(office) },
    body: { value: 'open sesame' },
  })),
  'POST /v1/connections/:id/test': onProject('connection.tested', async (office) => ({
    ids: { connections: await createConnection(office, { config: { api_url: office.outside.url } }) },
  })),
  'POST /v1/broker/toolkits/:toolkit/connect': onProject('connection.authorising', () => ({
    ids: { toolkit: 'gmail' },
    body: {},
  })),
  'POST /v1/connections/:id/broker/connect': onProject('connection.authorising', async (office) => ({
    ids: { connections: await createBrokerConnection(office) },
    body: {},
  })),
  // It asks the provider, and keeps what that says.
  'GET /v1/connections/:id/broker/status': onProject('connection.connected', async (office) => {
    const id = await createBrokerConnection(office)
    await office.call('POST', `/v1/connections/${id}/broker/connect`, {})
    for (const account of office.broker.accounts.keys()) office.broker.authorise(account)
    return { ids: { connections: id }, by: 'system' }
  }),
}

const CLIENTS: Record<string, AuditedCall> = {
  'POST /v1/channels': onProject('channel.created', async (office) => ({
    body: { ...IDLE, connection_id: await createConnection(office), address: `${office.uniqueWord()}@example.com` },
  })),
  'DELETE /v1/channels/:id': onProject('channel.deleted', async (office) => ({
    ids: { channels: await office.channel() },
  })),
  'POST /v1/channels/:id/inbound': onProject('message.received', async (office) => ({
    ids: { channels: await office.channel() },
    body: { from: { handle: `${office.uniqueWord()}@example.com` }, body: 'Where is it?' },
  })),
  'POST /v1/clients': onProject('client.created', () => ({ body: { display_name: 'Ada' } })),
  'PUT /v1/clients/:id': onProject('client.updated', async (office) => ({
    ids: { clients: await office.createId('/v1/clients') },
    body: { display_name: 'Ada' },
  })),
  'POST /v1/clients/:id/portal-link': onProject('portal.link_created', async (office) => ({
    ids: { clients: await office.createId('/v1/clients') },
  })),
  'POST /v1/clients/:id/portal-revoke': onProject('portal.revoked', async (office) => ({
    ids: { clients: await office.createId('/v1/clients') },
  })),
  'PUT /v1/threads/:id': onProject('thread.closed', async (office) => ({
    ids: { threads: (await office.customer()).thread },
    body: { status: 'closed' },
  })),
  'POST /v1/threads/:id/messages': onProject('thread.replied', async (office) => ({
    ids: { threads: (await office.customer()).thread },
    body: { body: 'It left on Monday.' },
  })),
  'POST /v1/portal/session': onProject('portal.session_opened', async (office) => {
    const { token } = await office.create(`/v1/clients/${await office.createId('/v1/clients')}/portal-link`)
    return { body: { token }, key: null }
  }),
  'POST /v1/portal/threads/:id/messages': onProject('message.posted', async (office) => {
    const { thread, session } = await office.customer()
    return { ids: { threads: thread }, body: { body: 'Hello?' }, key: session }
  }),
}

const WORK: Record<string, AuditedCall> = {
  'POST /v1/wedges/:wedge/knowledge': onProject('knowledge.created', (office) => ({
    ids: { wedge: 'desk' },
    body: { name: office.uniqueWord(), content: 'so' },
  })),
  'PUT /v1/knowledge/:id': onProject('knowledge.updated', async (office) => ({
    ids: { knowledge: await createKnowledge(office) },
    body: { content: 'or so' },
  })),
  'DELETE /v1/knowledge/:id': onProject('knowledge.deleted', async (office) => ({
    ids: { knowledge: await createKnowledge(office) },
  })),
  'POST /v1/wedges/:wedge/intake/:question': onProject('intake.answered', () => ({
    ids: { wedge: 'desk', question: 'hours' },
    body: { answer: 'Nine to five.' },
  })),
  'POST /v1/wedges/:wedge/intake/:question/dismiss': onProject('intake.dismissed', () => ({
    ids: { wedge: 'desk', question: 'tone' },
  })),
  'POST /v1/cases': onProject('case.opened', () => ({ body: { wedge: 'desk' } })),
  'PUT /v1/cases/:id': onProject('case.updated', async (office) => ({
    ids: { cases: await createCase(office) },
    body: { stage: 'done' },
  })),
  'POST /v1/cases/:id/tasks': onProject('task.created', async (office) => ({
    ids: { cases: await createCase(office) },
    body: { task_type: 'idle' },
  })),
  'POST /v1/records': onProject('record.created', (office) => ({
    body: { wedge: 'desk', collection: 'notes', key: office.uniqueWord(), value: 1 },
  })),
  'DELETE /v1/records/:id': onProject('record.deleted', async (office) => ({
    ids: {
      records: await office.createId('/v1/records', {
        wedge: 'desk',
        collection: 'n',
        key: office.uniqueWord(),
        value: 1,
      }),
    },
  })),
  'POST /v1/schedules': onProject('schedule.created', (office) => ({ body: { ...DAILY, name: office.uniqueWord() } })),
  'PUT /v1/schedules/:id': onProject('schedule.updated', async (office) => ({
    ids: { schedules: await createSchedule(office) },
    body: { name: office.uniqueWord() },
  })),
  'DELETE /v1/schedules/:id': onProject('schedule.deleted', async (office) => ({
    ids: { schedules: await createSchedule(office) },
  })),
  'POST /v1/schedules/:id/run': onProject('task.created', async (office) => ({
    ids: { schedules: await createSchedule(office) },
  })),
  'POST /v1/blueprints/:slug/provision': onProject('blueprint.provisioned', () => ({ ids: { slug: 'desk' } })),
  'POST /v1/blueprints/:slug/activate': onProject('blueprint.activated', async (office) => {
    await office.call('POST', '/v1/blueprints/desk/provision')
    return { ids: { slug: 'desk' } }
  }),
  'POST /mcp': onProject('task.created', () => ({ body: mcpCall('run_task', { ...IDLE, wait_s: 0 }) })),
}

const WEBHOOKS: Record<string, AuditedCall> = {
  'POST /v1/webhooks': onProject('webhook.created', ({ outside }) => ({
    body: { url: outside.url, events: ['task.finished'], enabled: false },
  })),
  'PUT /v1/webhooks/:id': onProject('webhook.updated', async (office) => ({
    ids: { webhooks: await createWebhook(office) },
    body: { events: ['approval.requested'] },
  })),
  'DELETE /v1/webhooks/:id': onProject('webhook.deleted', async (office) => ({
    ids: { webhooks: await createWebhook(office) },
  })),
  'POST /v1/webhooks/:id/rotate': onProject('webhook.rotated', async (office) => ({
    ids: { webhooks: await createWebhook(office) },
  })),
  'POST /v1/webhooks/:id/deliveries/:delivery/redeliver': onProject('webhook.redelivered', async (office) => {
    const webhooks = await createWebhook(office, { enabled: true })
    await office.finishedTask()
    const { data } = (await office.call('GET', `/v1/webhooks/${webhooks}/deliveries`)).body
    return { ids: { webhooks, delivery: data[0].id } }
  }),
}

const PEOPLE: Record<string, AuditedCall> = {
  'POST /v1/projects': onOrganisation('project.created', (office) => ({
    body: { name: office.uniqueWord() },
    key: office.owner,
  })),
  'PUT /v1/projects/:id': onProject('project.updated', async (office) => ({
    ids: { projects: (await office.call('GET', '/v1/projects')).body.data[0].id },
    body: { tier: 'default' },
  })),
  'PUT /v1/projects/:id/wedges/:wedge': onProject('project.updated', async (office) => {
    const { id } = (await office.call('GET', '/v1/projects')).body.data[0]
    await office.call('PUT', `/v1/projects/${id}`, { wedges: [] })
    return { ids: { projects: id, wedge: 'desk' } }
  }),
  'POST /v1/keys': onProject('key.created', () => ({ body: { name: 'server' } })),
  'DELETE /v1/keys/:id': onProject('key.deleted', async (office) => ({
    ids: { keys: await office.createId('/v1/keys', { name: 'server' }) },
  })),
  'POST /v1/members': onOrganisation('member.invited', (office) => ({
    body: { email: `${office.uniqueWord()}@example.com`, role: 'viewer' },
    key: office.owner,
  })),
  'PUT /v1/members/:id': onOrganisation('member.updated', async (office) => ({
    ids: { members: (await office.member()).id },
    body: { role: 'operator' },
    key: office.owner,
  })),
  'DELETE /v1/members/:id': onOrganisation('member.deleted', async (office) => ({
    ids: { members: (await office.member()).id },
    key: office.owner,
  })),
  'POST /v1/auth/signup': {
    action: 'member.signed_in',
    chain: 'own',
    call: (office) => ({ body: { email: `${office.uniqueWord()}@example.com`, password: PASSWORD }, key: null }),
  },
  'POST /v1/auth/login': onOrganisation('member.signed_in', () => ({
    body: { email: 'owner@example.com', password: PASSWORD },
    key: null,
  })),
  'POST /v1/auth/logout': onOrganisation('member.signed_out', async (office) => {
    const { id, session } = await office.member()
    return { key: session, about: id }
  }),
  'POST /v1/auth/password': onOrganisation('member.password_changed', async (office) => {
    const { id, session } = await office.member()
    return { body: { password: PASSWORD, new_password: `${PASSWORD}!` }, key: session, about: id }
  }),
  'POST /v1/auth/accept': onOrganisation('member.accepted', async (office) => {
    const invited = { email: `${office.uniqueWord()}@example.com`, role: 'viewer' }
    const { invite } = await office.create('/v1/members', invited, { key: office.owner })
    return { body: { invite, password: PASSWORD }, key: null }
  }),
}

/** Every route that changes something, by method and path. */
export const AUDITED_CALLS = { ...TASKS, ...CONNECTIONS, ...CLIENTS, ...WORK, ...WEBHOOKS, ...PEOPLE }

/** The tools of an assistant that change something; one door for all of them. */
export const AUDITED_TOOLS: Record<string, AuditedCall> = {
  run_task: onProject('task.created', () => ({ body: mcpCall('run_task', { ...IDLE, wait_s: 0 }) })),
  decide_approval: onProject('approval.approved', async (office) => ({
    body: mcpCall('decide_approval', {
      approval_id: (await office.taskAwaitingApproval()).approval,
      decision: 'approve',
    }),
  })),
}

/** What is no GET and changes nothing all the same. */
export const UNAUDITED_CALLS: Record<string, CallInput> = {
  // Tries rules on approvals of the past.
  'POST /v1/wedges/:wedge/policy/simulate': { ids: { wedge: 'desk' }, body: { auto_approve: [{ action: 'send_it' }] } },
}

function mcpCall(name: string, given: object) {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }
}
