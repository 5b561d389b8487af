import { newToken, tokenHash } from '../../src/platform/base/tokens.ts'
import { inTx } from '../../src/platform/ctx/ctx.ts'
import { isoNow } from '../../src/platform/ctx/world.ts'
import { insertNoticeToken } from '../../src/conversations/portal/notice-rows.ts'
import { openMcpServer } from '../connections/mcp/mcp-server.ts'
import { DAILY, IDLE, MAIL, type PopulatedApp } from './populated-app.ts'

/** The input of a call that changes something. */
export interface CallInput {
  /** Path parameters: by the word before `:id`, or by the parameter's own name. */
  ids?: Record<string, string>
  /** Query parameters, such as `?name=a`. */
  query?: string
  body?: unknown
  /** A body that is not JSON. */
  raw?: string
  headers?: Record<string, string>
  /** The credential; the project's key by default, null for none. */
  key?: string | null
  /** The subject of the entry if neither the path nor the response contains it. */
  about?: string
  /** The actor if it is not the caller. */
  by?: 'system' | 'member'
}

export interface AuditedCall {
  /** The action of the audit entry. */
  action: string
  /** The chain that gets the entry; `own` is the chain of the organisation that a sign-up creates. */
  chain: 'project' | 'organisation' | 'own'
  /** Creates what the call needs and returns the input of the call. */
  call: (app: PopulatedApp) => CallInput | Promise<CallInput>
}

export const onProject = (leaves: string, call: AuditedCall['call']): AuditedCall => ({
  action: leaves,
  call,
  chain: 'project',
})
export const onOrganisation = (leaves: string, call: AuditedCall['call']): AuditedCall => ({
  action: leaves,
  call,
  chain: 'organisation',
})

export const createCase = (app: PopulatedApp) => app.createId('/v1/cases', { wedge: 'support' })
export const createFile = (app: PopulatedApp) => app.createId('/v1/files?name=notes.json')
export const createSchedule = (app: PopulatedApp) => app.createId('/v1/schedules', { ...DAILY, name: app.uniqueWord() })
export const createConnection = (app: PopulatedApp, more: object = {}) =>
  app.createId('/v1/connections', { ...MAIL, name: app.uniqueWord(), ...more })
export const createMcpConnection = async (app: PopulatedApp) =>
  app.createId('/v1/connections', {
    kind: 'mcp',
    name: app.uniqueWord(),
    config: { url: (await openMcpServer()).url },
  })
export const createBotChannel = async (app: PopulatedApp) => {
  const connection_id = await createConnection(app, { kind: 'custom', config: { base_url: 'https://api.example.com' } })
  const address = { connection_id, address: app.uniqueWord(), adapter: 'telegram' }
  return app.createId('/v1/channels', { ...IDLE, ...address })
}
/** A connection that a person authorises at the provider. */
export const OAUTH = {
  kind: 'custom',
  config: {
    base_url: 'https://api.example.com',
    auth: {
      type: 'oauth2',
      grant: 'authorization_code',
      authorize_url: 'https://login.example.com/authorize',
      token_url: 'https://login.example.com/token',
      client_id: 'desk',
      scopes: [],
    },
  },
}
export const createKnowledge = (app: PopulatedApp) =>
  app.createId('/v1/wedges/support/knowledge', { name: app.uniqueWord(), content: 'so' })
export const createWebhook = (app: PopulatedApp, more: object = {}) =>
  app.createId('/v1/webhooks', { url: app.outside.url, events: ['task.finished'], enabled: false, ...more })
export const createBrokerConnection = (app: PopulatedApp) =>
  createConnection(app, { kind: 'broker', config: { toolkit: 'gmail' } })

/** The token of the unsubscribe link in a mail to the client. */
export async function insertUnsubscribeToken(app: PopulatedApp, client_id: string): Promise<string> {
  const token = newToken('unsubscribe', app.ctx.world.random)
  const project_id = (await app.call('GET', '/v1/projects')).body.data[0].id
  const row = { hash: tokenHash(token), project_id, client_id, created_at: isoNow(app.ctx) }
  await inTx(app.ctx, (tx) => insertNoticeToken(tx.db, row))
  return token
}
