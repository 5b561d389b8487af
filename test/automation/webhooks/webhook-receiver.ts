import { createHmac } from 'node:crypto'
import { expect } from 'vitest'
import type { TestApp } from '../../app.ts'
import { type GatedApp } from '../../approvals/decisions/gated-app.ts'
import { type FakeUpstream, openFakeUpstream, type ReceivedRequest } from '../../fake-upstream.ts'

/** A webhook of the app's project, and the server that receives its deliveries. */
export interface WebhookReceiver extends FakeUpstream {
  id: string
  secret: string
  /** Advances the clock until `n` deliveries about the subject have arrived, and returns them. */
  arrived(subject: string, n?: number): Promise<ReceivedRequest[]>
  deliveries(query?: string): Promise<ListedDelivery[]>
}

export interface ListedDelivery {
  id: string
  status: string
  attempts: number
  next_at: string | null
  last_status: number | null
  last_error: string | null
  payload: { data: { id: string } }
}

export async function openWebhookReceiver(
  app: Pick<TestApp, 'call' | 'clock'>,
  events: string[],
): Promise<WebhookReceiver> {
  const server = await openFakeUpstream()
  const created = await app.call('POST', '/v1/webhooks', { url: `${server.url}/in?token=t0ken`, events })
  expect(created.status).toBe(201)
  const { id, secret } = created.body
  const about = (subject: string) => server.received.filter(({ body }) => JSON.parse(body).data.id === subject)
  return Object.assign(server, {
    id,
    secret,
    async arrived(subject: string, n = 1) {
      await advanceUntil(app, () => about(subject).length >= n)
      return about(subject)
    },
    deliveries: async (query = '') => (await app.call('GET', `/v1/webhooks/${id}/deliveries${query}`)).body.data,
  })
}

/** Advances the clock by tenths of a second until the condition holds. */
export async function advanceUntil(
  app: Pick<GatedApp, 'clock'>,
  isMet: () => boolean | Promise<boolean>,
): Promise<void> {
  while (!(await isMet())) {
    await app.clock.advance(100)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Advances the clock until the delivery about the subject meets the condition, and returns it. */
export async function deliveryAbout(
  app: Pick<GatedApp, 'clock'>,
  hook: WebhookReceiver,
  subject: string,
  isMet: (delivery: ListedDelivery) => boolean,
): Promise<ListedDelivery> {
  let found: ListedDelivery | undefined
  await advanceUntil(app, async () => {
    found = (await hook.deliveries()).find(({ payload }) => payload.data.id === subject)
    return found !== undefined && isMet(found)
  })
  if (!found) throw new Error(`no delivery about ${subject}`)
  return found
}

/** Which of the secrets signed the request, checked as a receiver of Standard Webhooks would. */
export function verifySignatures({ headers, body }: ReceivedRequest, secrets: string[]): boolean[] {
  const content = [headers['webhook-id'], headers['webhook-timestamp'], body].join('.')
  const signatures = signaturesOf(headers)
  return secrets.map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    return signatures.includes(`v1,${createHmac('sha256', key).update(content).digest('base64')}`)
  })
}

export const signaturesOf = (headers: ReceivedRequest['headers']): string[] =>
  [headers['webhook-signature'] ?? []].flat().flatMap((value) => value.split(' '))

/** Runs the work with a later clock, without firing timers. */
export async function atLaterTime<T>(
  { clock }: Pick<GatedApp, 'clock'>,
  ms: number,
  work: () => Promise<T>,
): Promise<T> {
  const real = clock.now.bind(clock)
  clock.now = () => real() + ms
  return work().finally(() => {
    clock.now = real
  })
}
