import { PASSWORD } from '../identity/accounts/members.ts'
import {
  type AuditedCall,
  onProject,
  onOrganisation,
  createCase,
  createFile,
  createSchedule,
  createKnowledge,
  createWebhook,
} from './audited-call.ts'
import { CLIENTS, createWidget, WIDGET_ORIGIN } from './audited-clients.ts'
import { CONNECTIONS } from './audited-connections.ts'
import { MCP } from './audited-mcp.ts'
import { NOTIFICATIONS } from './audited-notifications.ts'
import { DAILY, IDLE } from './populated-app.ts'

const TASKS: Record<string, AuditedCall> = {
  'POST /v1/tasks': onProject('task.created', () => ({ body: IDLE })),
  'POST /v1/tasks/:id/cancel': onProject('task.cancelled', async (app) => ({
    ids: { tasks: (await app.taskAwaitingApproval()).task },
  })),
  'POST /v1/tasks/:id/retry': onProject('task.created', async (app) => ({
    ids: { tasks: await app.finishedTask() },
  })),
  'POST /v1/tasks/:id/feedback': onProject('task.feedback', async (app) => ({
    ids: { tasks: await app.finishedTask() },
    body: { rating: 5 },
  })),
  'POST /v1/approvals/:id/approve': onProject('approval.approved', async (app) => ({
    ids: { approvals: (await app.taskAwaitingApproval()).approval },
  })),
  'DELETE /v1/approvals/:id/held': onProject('approval.withdrawn', async (app) => {
    const { approval } = await app.taskAwaitingApproval()
    await app.call('POST', `/v1/approvals/${approval}/approve`, { hold_s: 60 })
    return { ids: { approvals: approval } }
  }),
  'POST /v1/approvals/:id/reject': onProject('approval.rejected', async (app) => ({
    ids: { approvals: (await app.taskAwaitingApproval()).approval },
  })),
  'POST /v1/approvals/:id/revise': onProject('approval.rejected', async (app) => ({
    ids: { approvals: (await app.taskAwaitingApproval()).approval },
    body: { note: 'Shorter.' },
  })),
  'PUT /v1/approvals/:id': onProject('approval.assigned', async (app) => ({
    ids: { approvals: (await app.taskAwaitingApproval()).approval },
    body: { assignee: null },
  })),
  'POST /v1/approvals/:id/comments': onProject('approval.commented', async (app) => ({
    ids: { approvals: (await app.taskAwaitingApproval()).approval },
    body: { body: 'Is this right?' },
  })),
}

const FILES: Record<string, AuditedCall> = {
  'POST /v1/files': onProject('file.created', () => ({ query: '?name=a.json', body: {} })),
  'DELETE /v1/files/:id': onProject('file.deleted', async (app) => ({ ids: { files: await createFile(app) } })),
  'POST /v1/portal/files': onProject('file.created', async (app) => ({
    query: '?name=a.json',
    body: {},
    key: (await app.customer()).session,
  })),
}

const WORK: Record<string, AuditedCall> = {
  'POST /v1/wedges/:wedge/knowledge': onProject('knowledge.created', (app) => ({
    ids: { wedge: 'support' },
    body: { name: app.uniqueWord(), content: 'so' },
  })),
  'PUT /v1/knowledge/:id': onProject('knowledge.updated', async (app) => ({
    ids: { knowledge: await createKnowledge(app) },
    body: { content: 'or so' },
  })),
  'DELETE /v1/knowledge/:id': onProject('knowledge.deleted', async (app) => ({
    ids: { knowledge: await createKnowledge(app) },
  })),
  'POST /v1/wedges/:wedge/intake/:question': onProject('intake.answered', () => ({
    ids: { wedge: 'support', question: 'hours' },
    body: { answer: 'Nine to five.' },
  })),
  'POST /v1/wedges/:wedge/intake/:question/dismiss': onProject('intake.dismissed', () => ({
    ids: { wedge: 'support', question: 'tone' },
  })),
  'PUT /v1/wedges/:wedge/policy': onProject('policy.saved', () => ({
    ids: { wedge: 'support' },
    body: { auto_approve: [{ action: 'never_asked' }] },
  })),
  'DELETE /v1/wedges/:wedge/policy': onProject('policy.reset', async (app) => {
    await app.call('PUT', '/v1/wedges/support/policy', { auto_approve: [] })
    return { ids: { wedge: 'support' } }
  }),
  'POST /v1/cases': onProject('case.opened', () => ({ body: { wedge: 'support' } })),
  'PUT /v1/cases/:id': onProject('case.updated', async (app) => ({
    ids: { cases: await createCase(app) },
    body: { stage: 'done' },
  })),
  'POST /v1/cases/:id/tasks': onProject('task.created', async (app) => ({
    ids: { cases: await createCase(app) },
    body: { task_type: 'idle' },
  })),
  'POST /v1/records': onProject('record.created', (app) => ({
    body: { wedge: 'support', collection: 'notes', key: app.uniqueWord(), value: 1 },
  })),
  'DELETE /v1/records/:id': onProject('record.deleted', async (app) => ({
    ids: {
      records: await app.createId('/v1/records', {
        wedge: 'support',
        collection: 'n',
        key: app.uniqueWord(),
        value: 1,
      }),
    },
  })),
  'POST /v1/schedules': onProject('schedule.created', (app) => ({ body: { ...DAILY, name: app.uniqueWord() } })),
  'PUT /v1/schedules/:id': onProject('schedule.updated', async (app) => ({
    ids: { schedules: await createSchedule(app) },
    body: { name: app.uniqueWord() },
  })),
  'DELETE /v1/schedules/:id': onProject('schedule.deleted', async (app) => ({
    ids: { schedules: await createSchedule(app) },
  })),
  'POST /v1/schedules/:id/run': onProject('task.created', async (app) => ({
    ids: { schedules: await createSchedule(app) },
  })),
  'POST /v1/blueprints/:slug/provision': onProject('blueprint.provisioned', () => ({ ids: { slug: 'support' } })),
  'POST /v1/blueprints/:slug/activate': onProject('blueprint.activated', async (app) => {
    await app.call('POST', '/v1/blueprints/support/provision')
    return { ids: { slug: 'support' } }
  }),
}

const WEBHOOKS: Record<string, AuditedCall> = {
  'POST /v1/webhooks': onProject('webhook.created', ({ outside }) => ({
    body: { url: outside.url, events: ['task.finished'], enabled: false },
  })),
  'PUT /v1/webhooks/:id': onProject('webhook.updated', async (app) => ({
    ids: { webhooks: await createWebhook(app) },
    body: { events: ['approval.requested'] },
  })),
  'DELETE /v1/webhooks/:id': onProject('webhook.deleted', async (app) => ({
    ids: { webhooks: await createWebhook(app) },
  })),
  'POST /v1/webhooks/:id/rotate': onProject('webhook.rotated', async (app) => ({
    ids: { webhooks: await createWebhook(app) },
  })),
  'POST /v1/webhooks/:id/deliveries/:delivery/redeliver': onProject('webhook.redelivered', async (app) => {
    const webhooks = await createWebhook(app, { enabled: true })
    await app.finishedTask()
    const { data } = (await app.call('GET', `/v1/webhooks/${webhooks}/deliveries`)).body
    return { ids: { webhooks, delivery: data[0].id } }
  }),
}

const PEOPLE: Record<string, AuditedCall> = {
  'POST /v1/projects': onOrganisation('project.created', (app) => ({
    body: { name: app.uniqueWord() },
    key: app.owner,
  })),
  'PUT /v1/projects/:id': onProject('project.updated', async (app) => ({
    ids: { projects: (await app.call('GET', '/v1/projects')).body.data[0].id },
    body: { tier: 'default' },
  })),
  'PUT /v1/projects/:id/wedges/:wedge': onProject('project.updated', async (app) => {
    const { id } = (await app.call('GET', '/v1/projects')).body.data[0]
    await app.call('PUT', `/v1/projects/${id}`, { wedges: [] })
    return { ids: { projects: id, wedge: 'support' } }
  }),
  'POST /v1/keys': onProject('key.created', () => ({ body: { name: 'server' } })),
  'DELETE /v1/keys/:id': onProject('key.deleted', async (app) => ({
    ids: { keys: await app.createId('/v1/keys', { name: 'server' }) },
  })),
  'POST /v1/members': onOrganisation('member.invited', (app) => ({
    body: { email: `${app.uniqueWord()}@example.com`, role: 'viewer' },
    key: app.owner,
  })),
  'PUT /v1/members/:id': onOrganisation('member.updated', async (app) => ({
    ids: { members: (await app.member()).id },
    body: { role: 'operator' },
    key: app.owner,
  })),
  'DELETE /v1/members/:id': onOrganisation('member.deleted', async (app) => ({
    ids: { members: (await app.member()).id },
    key: app.owner,
  })),
  'POST /v1/auth/signup': {
    action: 'member.signed_in',
    chain: 'own',
    call: (app) => ({ body: { email: `${app.uniqueWord()}@example.com`, password: PASSWORD }, key: null }),
  },
  'POST /v1/auth/login': onOrganisation('member.signed_in', () => ({
    body: { email: 'owner@example.com', password: PASSWORD },
    key: null,
  })),
  'POST /v1/auth/logout': onOrganisation('member.signed_out', async (app) => {
    const { id, session } = await app.member()
    return { key: session, about: id }
  }),
  'POST /v1/auth/password': onOrganisation('member.password_changed', async (app) => {
    const { id, session } = await app.member()
    return { body: { password: PASSWORD, new_password: `${PASSWORD}!` }, key: session, about: id }
  }),
  'POST /v1/auth/accept': onOrganisation('member.accepted', async (app) => {
    const invited = { email: `${app.uniqueWord()}@example.com`, role: 'viewer' }
    const { invite } = await app.create('/v1/members', invited, { key: app.owner })
    return { body: { invite, password: PASSWORD }, key: null }
  }),
}

/** Every route that changes something, by method and path. */
export const AUDITED_CALLS = {
  ...TASKS,
  ...FILES,
  ...CONNECTIONS,
  ...CLIENTS,
  ...WORK,
  ...WEBHOOKS,
  ...PEOPLE,
  ...NOTIFICATIONS,
  ...MCP,
}

/** Routes other than GET that change nothing. */
export const UNAUDITED_CALLS: Record<string, AuditedCall['call']> = {
  // Evaluates policy rules on past approvals.
  'POST /v1/wedges/:wedge/policy/simulate': () => ({
    ids: { wedge: 'support' },
    body: { auto_approve: [{ action: 'send_it' }] },
  }),
  // Reads; the key of the visitor must not be in the URL.
  'POST /v1/widgets/:channel_id/messages': async (app) => ({
    ids: { channel_id: await createWidget(app) },
    body: { visitor: 'a-long-random-key-of-the-browser' },
    headers: { origin: WIDGET_ORIGIN },
    key: null,
  }),
}

/** Routes other than GET without an entry in any log: an app belongs to no project yet, and the other is always 405. */
export const CALLS_WITHOUT_LOG = ['POST /v1/mcp-oauth/register', 'DELETE /mcp']
