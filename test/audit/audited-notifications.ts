import { newToken, tokenHash } from '../../src/platform/base/tokens.ts'
import { inTx } from '../../src/platform/ctx/ctx.ts'
import { insertDecisionLinks } from '../../src/approvals/notifications/links/decision-link-rows.ts'
import { upsertNotificationLink } from '../../src/approvals/notifications/links/link-rows.ts'
import { DEFAULT_SETTINGS } from '../../src/approvals/notifications/settings.ts'
import { addMember } from '../identity/accounts/members.ts'
import { type AuditedCall, createConnection, onProject } from './audited-call.ts'
import type { PopulatedApp } from './populated-app.ts'

/** Other calls add projects, and a member of several must name one. */
const IN_PROJECT = { 'x-svc-project': 'default' }

/** How members hear of approvals. */
export const NOTIFICATIONS: Record<string, AuditedCall> = {
  'PUT /v1/notifiers/:kind': onProject('notifier.updated', async (app) => {
    const connection = app.uniqueWord()
    await createConnection(app, { name: connection })
    return { ids: { kind: 'mail' }, body: { connection } }
  }),
  'POST /v1/notifiers/:kind/secret': onProject('secret.written', async (app) => ({
    ids: { kind: 'telegram' },
    body: { value: 'a-secret' },
    about: await setUpBot(app),
  })),
  'DELETE /v1/notifiers/:kind': onProject('notifier.deleted', async (app) => ({
    ids: { kind: 'telegram' },
    about: await setUpBot(app),
  })),
  'PUT /v1/notification-settings': onProject('notification_settings.updated', async (app) => ({
    body: DEFAULT_SETTINGS,
    about: (await app.call('GET', '/v1/projects')).body.data[0].id,
  })),
  'PUT /v1/me/notifications': onProject('notification_settings.updated', async (app) => {
    const { id, session } = await app.member()
    return { body: { settings: DEFAULT_SETTINGS }, key: session, headers: IN_PROJECT, about: id }
  }),
  'POST /v1/me/notifications/links': onProject('notification_link.requested', async (app) => {
    await setUpBot(app)
    const { id, session } = await app.member()
    return { body: { kind: 'telegram' }, key: session, headers: IN_PROJECT, about: id }
  }),
  'POST /v1/me/notifications/confirm': onProject('notification_link.created', async (app) => {
    await setUpMail(app)
    const { id, session } = await app.member()
    await app.call('POST', '/v1/me/notifications/links', { kind: 'mail' }, { key: session, headers: IN_PROJECT })
    const mail = JSON.parse(app.outside.received.findLast(({ url }) => url === '/notices')?.body ?? '{}')
    return { body: { token: /#confirm=(\S+)/.exec(mail.text)?.[1] }, key: session, headers: IN_PROJECT, about: id }
  }),
  'DELETE /v1/me/notifications/links/:kind': onProject('notification_link.deleted', async (app) => {
    const { id, session } = await linkBot(app)
    return { ids: { kind: 'telegram' }, key: session, headers: IN_PROJECT, about: id }
  }),
  'POST /v1/hooks/notifiers/:id': onProject('notification_link.created', async (app) => {
    const { id, session } = await app.member()
    const notifiers = await setUpBot(app)
    return { ids: { notifiers }, ...(await botCall(app, session)), key: null, by: 'member', about: id }
  }),
  'POST /v1/decide': onProject('approval.approved', async (app) => {
    const { approval, token } = await mailedApproval(app)
    return { body: { decision: 'approve' }, key: token, by: 'member', about: approval }
  }),
  'DELETE /v1/decide/held': onProject('approval.withdrawn', async (app) => {
    const { approval, token } = await mailedApproval(app)
    await app.call('POST', '/v1/decide', { decision: 'approve', hold_s: 60 }, { key: token })
    return { key: token, by: 'member', about: approval }
  }),
}

/** A request whose decision link a member has. */
async function mailedApproval(app: PopulatedApp) {
  const { approval } = await app.taskAwaitingApproval()
  const { id } = await addMember(app, app.owner, 'operator', `${app.uniqueWord()}@example.com`)
  const token = newToken('decisionLink', app.ctx.world.random)
  const project_id = (await app.call('GET', '/v1/projects')).body.data[0].id
  const expires_at = new Date(app.clock.now() + 60_000).toISOString()
  const link = { project_id, approval_id: approval, member_id: id, expires_at, used_at: null }
  const address = { project_id, member_id: id, kind: 'mail', address: token, linked_at: expires_at } as const
  await inTx(app.ctx, async (tx) => {
    await upsertNotificationLink(tx.db, address)
    await insertDecisionLinks(tx.db, [{ hash: tokenHash(token), ...link }])
  })
  return { approval, token }
}

async function setUpMail(app: PopulatedApp): Promise<void> {
  const connection = app.uniqueWord()
  const config = { api_url: `${app.outside.url}/notices`, from: 'desk@example.com' }
  const id = await createConnection(app, { name: connection, config })
  await app.call('POST', `/v1/connections/${id}/secret`, { value: 'mail-secret' })
  await app.call('PUT', '/v1/notifiers/mail', { connection })
}

/** What the server answers as Telegram, and as every other service. */
const ANSWER = JSON.stringify({ ok: true, done: true, result: { username: 'desk_bot', message_id: 1 } })

/** Sets up notifications by Telegram and returns the id of the notifier. */
async function setUpBot(app: PopulatedApp): Promise<string> {
  app.outside.respond = (_received, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER)
  const connection = app.uniqueWord()
  const custom = { kind: 'custom', name: connection, config: { base_url: app.outside.url } }
  const id = await app.createId('/v1/connections', custom)
  await app.call('POST', `/v1/connections/${id}/secret`, { value: '1:bot-token' })
  await app.call('PUT', '/v1/notifiers/telegram', { connection })
  const { body } = await app.call('POST', '/v1/notifiers/telegram/secret', { value: BOT_SECRET })
  return body.hook_url.split('/').at(-1)
}

const BOT_SECRET = 'a-secret-of-the-bot'

/** The call of Telegram when a member sends the code of a link. */
async function botCall(app: PopulatedApp, session: string) {
  const options = { key: session, headers: IN_PROJECT }
  const started = await app.call('POST', '/v1/me/notifications/links', { kind: 'telegram' }, options)
  const chat = { id: Number(app.uniqueWord().slice(4)) + 1_000, type: 'private' }
  const message = {
    message_id: 1,
    date: 1,
    chat,
    from: { ...chat, is_bot: false },
    text: `/start ${started.body.code}`,
  }
  const headers = { 'x-telegram-bot-api-secret-token': BOT_SECRET }
  return { body: { update_id: chat.id, message }, headers }
}

async function linkBot(app: PopulatedApp): Promise<{ id: string; session: string }> {
  const member = await app.member()
  const notifier = await setUpBot(app)
  const { body, headers } = await botCall(app, member.session)
  await app.call('POST', `/v1/hooks/notifiers/${notifier}`, body, { key: null, headers })
  return member
}
