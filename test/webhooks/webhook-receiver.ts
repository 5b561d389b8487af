import { createHmac } from 'node:crypto'
import { expect } from 'vitest'
import { type GatedApp } from '../approvals/gated-app.ts'
import { openFakeUpstream, type FakeUpstream, type ReceivedRequest } from '../fake-upstream.ts'
import type { TestApp } from '../app.ts'

/** A webhook of the desk's project, and the server that it leads to. */
export interface WebhookReceiver extends FakeUpstream {
  id: string
  secret: string
  /** What came for a subject, once there are so many of them; the clock runs meanwhile. */
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
  desk: Pick<TestApp, 'call' | 'clock'>,
  events: string[],
): Promise<WebhookReceiver> {
  const outside = await openFakeUpstream()
  const made = await desk.call('POST', '/v1/webhooks', { url: `${outside.url}/in?token=t0ken`, events })
  expect(made.status).toBe(201)
  const { id, secret } = made.body
  const about = (subject: string) => outside.received.filter(({ body }) => JSON.parse(body).data.id === subject)
  return Object.assign(outside, {
    id,
    secret,
    async arrived(subject: string, n = 1) {
      await advanceUntil(desk, () => about(subject).length >= n)
      return about(subject)
    },
    deliveries: async (query = '') => (await desk.call('GET', `/v1/webhooks/${id}/deliveries${query}`)).body.data,
  })
}

/** Lets tenths of seconds pass until it is so. */
export async function advanceUntil(desk: Pick<GatedApp, 'clock'>, so: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await so())) {
    await desk.clock.advance(100)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** The delivery of a subject once it looks like this. */
export async function deliveryAbout(
  desk: Pick<GatedApp, 'clock'>,
  hook: WebhookReceiver,
  subject: string,
  so: (one: ListedDelivery) => boolean,
): Promise<ListedDelivery> {
  let found: ListedDelivery | undefined
  await advanceUntil(desk, async () => {
    found = (await hook.deliveries()).find(({ payload }) => payload.data.id === subject)
    return found !== undefined && so(found)
  })
  if (!found) throw new Error(`nothing is sent about ${subject}`)
  return found
}

/** Standard Webhooks, as a receiver would check it: which of the secrets signed. */
export function verifySignatures({ headers, body }: ReceivedRequest, secrets: string[]): boolean[] {
  const content = [headers['webhook-id'], headers['webhook-timestamp'], body].join('.')
  const given = signaturesOf(headers)
  return secrets.map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    return given.includes(`v1,${createHmac('sha256', key).update(content).digest('base64')}`)
  })
}

export const signaturesOf = (headers: ReceivedRequest['headers']): string[] =>
  [headers['webhook-signature'] ?? []].flat().flatMap((value) => value.split(' '))

/** Another time of day for the length of the work; no timer runs for it. */
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
