import { onTestFinished } from 'vitest'
import { type RunningNotices, startDueNotices } from '../../../src/conversations/portal/notices.ts'
import { type FakeUpstream, openFakeUpstream, respondJson } from '../../fake-upstream.ts'
import { type ChannelApp, createAndGetId, openChannelApp } from '../../customers/channels/channel-app.ts'
import type { StoreKind } from '../../stores.ts'

/** A mail as the mail API received it. */
export interface SentMail {
  From: string
  ReplyTo?: string
  To: string
  Subject: string
  TextBody: string
  HtmlBody: string
  Headers: { Name: string; Value: string }[]
}

export interface PortalMailApp extends ChannelApp {
  upstream: FakeUpstream
  mails: () => SentMail[]
}

/** A service whose brand sends mails through an API that records them, and whose portal begins conversations. */
export async function openPortalMailApp(store: StoreKind, brand: object = {}): Promise<PortalMailApp> {
  const upstream = await openFakeUpstream()
  onTestFinished(() => upstream.close())
  upstream.respond = (_, response) => respondJson(response, 200, { MessageID: '1' })
  const app = await openChannelApp(store, 'desk', { SVC_EGRESS_ALLOW: '127.0.0.1' })
  const config = { provider: 'postmark', from: 'shop@example.com', base_url: upstream.url }
  const mail = await createAndGetId(app, '/v1/connections', { kind: 'email', name: 'outbox', config })
  await app.call('POST', `/v1/connections/${mail}/secret`, { value: 'server-token' })
  const set = { name: 'Teapot Shop', mail_connection_id: mail, portal_channel_id: app.channel, ...brand }
  const changed = await app.call('PUT', '/v1/brand', set)
  if (changed.status !== 200) throw new Error(JSON.stringify(changed.body))
  const mails = () => upstream.received.map(({ body }): SentMail => JSON.parse(body))
  return { ...app, upstream, mails }
}

export const headerOf = ({ Headers }: SentMail, name: string) => Headers.find((header) => header.Name === name)?.Value

/** Decides about all due notices and waits for their mails. */
export async function mailDueNotices({ ctx }: Pick<ChannelApp, 'ctx'>): Promise<void> {
  const running: RunningNotices = new Map()
  await startDueNotices(ctx, running)
  await Promise.all(running.values())
}
