import {
  type AuditedCall,
  onProject,
  createBotChannel,
  createConnection,
  OAUTH,
  insertUnsubscribeToken,
} from './audited-call.ts'
import { IDLE, type PopulatedApp } from './populated-app.ts'

/** The calls that change channels, clients, threads and the portal. */
export const CLIENTS: Record<string, AuditedCall> = {
  'POST /v1/channels': onProject('channel.created', async (app) => ({
    body: { ...IDLE, connection_id: await createConnection(app), address: `${app.uniqueWord()}@example.com` },
  })),
  'PUT /v1/channels/:id': onProject('channel.updated', async (app) => ({
    ids: { channels: await app.channel() },
    body: { settle_s: 5 },
  })),
  'POST /v1/channels/:id/secret': onProject('secret.written', async (app) => ({
    ids: { channels: await createBotChannel(app) },
    body: { value: 'x' },
  })),
  'POST /v1/hooks/:channel_id': onProject('message.received', async (app) => ({
    ids: { channel_id: await createWidget(app) },
    body: { visitor: `${app.uniqueWord()}-key-of-the-browser`, body: 'Where is it?' },
    headers: { origin: WIDGET_ORIGIN },
    key: null,
    by: 'system',
  })),
  'DELETE /v1/channels/:id': onProject('channel.deleted', async (app) => ({
    ids: { channels: await app.channel() },
  })),
  'POST /v1/channels/:id/inbound': onProject('message.received', async (app) => ({
    ids: { channels: await app.channel() },
    body: { from: { handle: `${app.uniqueWord()}@example.com` }, body: 'Where is it?' },
  })),
  'POST /v1/clients': onProject('client.created', () => ({ body: { display_name: 'Ada' } })),
  'PUT /v1/clients/:id': onProject('client.updated', async (app) => ({
    ids: { clients: await app.createId('/v1/clients') },
    body: { display_name: 'Ada' },
  })),
  'POST /v1/clients/:id/portal-link': onProject('portal.link_created', async (app) => ({
    ids: { clients: await app.createId('/v1/clients') },
  })),
  'POST /v1/clients/:id/portal-revoke': onProject('portal.revoked', async (app) => ({
    ids: { clients: await app.createId('/v1/clients') },
  })),
  'POST /v1/clients/:id/erase': onProject('client.erased', async (app) => ({
    ids: { clients: await app.createId('/v1/clients') },
  })),
  'POST /v1/portal/connections/:id/oauth/start': onProject('connection.authorising', async (app) => {
    const { client, session } = await app.customer()
    return { ids: { connections: await createConnection(app, { ...OAUTH, client_id: client }) }, key: session }
  }),
  'PUT /v1/threads/:id': onProject('thread.closed', async (app) => ({
    ids: { threads: (await app.customer()).thread },
    body: { status: 'closed' },
  })),
  'POST /v1/threads/:id/messages': onProject('thread.replied', async (app) => ({
    ids: { threads: (await app.customer()).thread },
    body: { body: 'It left on Monday.' },
  })),
  'POST /v1/threads/:id/tasks': onProject('task.created', async (app) => {
    const { thread, channel, handle } = await app.customer()
    await app.call('PUT', `/v1/threads/${thread}`, { held_by: 'me' })
    await app.call('POST', `/v1/channels/${channel}/inbound`, { from: { handle }, body: 'Where is it?' })
    await app.call('PUT', `/v1/threads/${thread}`, { held_by: null })
    return { ids: { threads: thread } }
  }),
  'POST /v1/portal/session': onProject('portal.session_opened', async (app) => {
    const { token } = await app.create(`/v1/clients/${await app.createId('/v1/clients')}/portal-link`)
    return { body: { token }, key: null }
  }),
  'POST /v1/portal/threads/:id/messages': onProject('message.posted', async (app) => {
    const { thread, session } = await app.customer()
    return { ids: { threads: thread }, body: { body: 'Hello?' }, key: session }
  }),
  'PUT /v1/brand': onProject('brand.updated', () => ({ body: { name: 'Teapots' } })),
  'POST /v1/portal/threads': onProject('message.posted', async (app) => {
    const { session, channel } = await app.customer()
    await app.call('PUT', '/v1/brand', { portal_channel_id: channel })
    return { body: { body: 'Hello?' }, key: session }
  }),
  'POST /v1/portal/threads/:id/read': onProject('thread.read', async (app) => {
    const { thread, session } = await app.customer()
    return { ids: { threads: thread }, key: session }
  }),
  'POST /v1/portal/links': onProject('portal.link_created', async (app) => {
    const { client, handle } = await app.customer()
    await app.call('PUT', '/v1/brand', { mail_connection_id: await createConnection(app) })
    return { body: { email: handle, project: 'default' }, key: null, by: 'system', about: client }
  }),
  'POST /v1/portal/unsubscribe/:token': onProject('notices.disabled', async (app) => {
    const { client } = await app.customer()
    return { ids: { token: await insertUnsubscribeToken(app, client) }, key: null, about: client }
  }),
  'POST /v1/portal/device-link': onProject('portal.link_created', async (app) => {
    const { client, session } = await app.customer()
    return { ids: { clients: client }, key: session }
  }),
  'POST /v1/portal/sign-out': onProject('portal.signed_out', async (app) => {
    const { client, session } = await app.customer()
    return { ids: { clients: client }, body: {}, key: session }
  }),
  'POST /v1/portal/notices': onProject('notices.disabled', async (app) => {
    const { client, session } = await app.customer()
    return { ids: { clients: client }, body: { enabled: false }, key: session }
  }),
  'POST /v1/portal/questions/:id/answer': onProject('approval.approved', async (app) => {
    const { question, session } = await app.questionToClient()
    return { ids: { questions: question }, body: { answer: 'large' }, key: session }
  }),
  'POST /v1/portal/approvals/:id/approve': onProject('approval.approved', async (app) => {
    const { approval, session } = await app.approvalByClient()
    return { ids: { approvals: approval }, body: {}, key: session }
  }),
  'POST /v1/portal/approvals/:id/reject': onProject('approval.rejected', async (app) => {
    const { approval, session } = await app.approvalByClient()
    return { ids: { approvals: approval }, body: { reason: 'too much' }, key: session }
  }),
  'POST /v1/portal/questions/:id/decline': onProject('approval.rejected', async (app) => {
    const { question, session } = await app.questionToClient()
    return { ids: { questions: question }, key: session }
  }),
}

export const WIDGET_ORIGIN = 'https://shop.example'

export async function createWidget(app: PopulatedApp): Promise<string> {
  const config = { origins: [WIDGET_ORIGIN] }
  const binding = { connection_id: await createConnection(app), address: app.uniqueWord(), adapter: 'widget', config }
  return app.createId('/v1/channels', { ...IDLE, ...binding })
}
