import { expect, vi } from 'vitest'
import { callApi } from '../http.ts'
import type { Console } from './console-browser.ts'

/** A mail as the mail API of the service received it. */
interface SentMail {
  To: string
  Subject: string
  TextBody: string
}

/** Creates an email connection whose mails the upstream of the console fixture records. Its name is `outbox`. */
export async function createMailConnection(console: Console): Promise<void> {
  const { body } = await console.call('GET', '/v1/connections')
  const { url } = body.data.find(({ name }: { name: string }) => name === 'post').config
  const config = { provider: 'postmark', from: 'approvals@example.com', base_url: new URL(url).origin }
  const created = await console.call('POST', '/v1/connections', { kind: 'email', name: 'outbox', config })
  await console.call('POST', `/v1/connections/${created.body.id}/secret`, { value: 'server-token' })
}

/** The newest mail to the address whose subject or text matches; waits for it. */
export function receiveMail({ received }: Console, to: string, matching: RegExp): Promise<SentMail> {
  const find = () => {
    const mail = received
      .filter(({ url }) => url === '/email')
      .map(({ body }): SentMail => JSON.parse(body))
      .findLast((one) => one.To === to && matching.test(`${one.Subject}\n${one.TextBody}`))
    if (!mail) throw new Error(`no mail to ${to} matches ${matching}`)
    return mail
  }
  return vi.waitFor(find, { timeout: 180_000 })
}

/** The path of the link to this page, with its fragment. The mail has the public address of the service. */
export function linkTo(page: string, { TextBody }: SentMail): string {
  const link = [...TextBody.matchAll(/https?:\S+/g)]
    .map(([url]) => new URL(url))
    .find(({ pathname }) => pathname === page)
  if (!link) throw new Error(`the mail has no link to ${page}: ${TextBody}`)
  return link.pathname + link.search + link.hash
}

/** Turns on mails about approvals for the member, who confirms the address. */
export async function linkMail(console: Console, token: string, email: string): Promise<void> {
  const { url } = console
  await callApi(url, token, 'POST', '/v1/me/notifications/links', { kind: 'mail' })
  const mail = await receiveMail(console, email, /^Confirm/)
  const confirmation = new URLSearchParams(new URL(linkTo('/settings', mail), url).hash.slice(1)).get('confirm')
  const confirmed = await callApi(url, token, 'POST', '/v1/me/notifications/confirm', { token: confirmation })
  expect(confirmed.status).toBe(200)
}
