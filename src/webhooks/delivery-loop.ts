import { createEgressClient, EgressError } from '../egress/http-client.ts'
import { webhookSignatureHeaders } from '../connections/executors/webhook.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import { createLoop, type Loop } from '../ctx/loop.ts'
import { SecretUnavailable } from '../ctx/vault.ts'
import { isoNow, toIsoTime } from '../ctx/world.ts'
import type { WebhookDeliveryRow, WebhookRow } from '../store/tables.ts'
import {
  updateDueDeliveriesClaimed,
  listDueWebhooks,
  type DeliveryOutcome,
  updateDeliveryOutcome,
} from './delivery-rows.ts'
import { announceExpiringApprovals } from './announce-expiring.ts'
import { deliveryPayload } from './view.ts'
import { findWebhookUnscoped } from './rows.ts'
import { signingSecrets } from './secrets.ts'

const SWEEP_MS = 1_000
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** How long to wait after each attempt that failed; after the last of all, nobody tries any more. */
export const WEBHOOK_BACKOFF_MS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR]

const REQUEST_TIMEOUT_MS = 10 * SECOND
/** A claim outlives the longest attempt; who is silent for longer has died between claim and outcome. */
const CLAIM_LIFETIME_MS = 3 * REQUEST_TIMEOUT_MS
const MAX_RESPONSE_BYTES = 64 * 1024
const MAX_CONCURRENT_WEBHOOKS = 64
const MAX_DELIVERIES_PER_CLAIM = 8

/** The webhooks that are being served. While more may wait than there are seats, each is served once before any again. */
interface SenderSlots {
  senders: Map<string, Promise<void>>
  crowded: boolean
  served: Set<string>
}

/**
 * Sends what is due for as long as the process lives. Each webhook has a sender of its own while it has something due,
 * so a receiver that hangs keeps nobody waiting but itself. Where more wait than there are seats they take turns.
 */
export function createWebhookDeliveryLoop(ctx: Ctx): Loop {
  const senders = new Map<string, Promise<void>>()
  const seats: SenderSlots = { senders, crowded: false, served: new Set() }
  const stopping = new AbortController()
  const failed = (err: unknown) => ctx.world.log.error({ err }, 'webhooks failed')
  const loop = createLoop(ctx.world.clock, SWEEP_MS, () => startSenders(ctx, seats, stopping.signal), failed)
  return {
    start: () => loop.start(),
    async stop() {
      stopping.abort()
      await loop.stop()
      await Promise.all(senders.values())
    },
  }
}

async function startSenders(ctx: Ctx, seats: SenderSlots, stopping: AbortSignal): Promise<void> {
  const { senders, served } = seats
  await announceExpiringApprovals(ctx)
  const free = MAX_CONCURRENT_WEBHOOKS - senders.size
  if (free <= 0) return
  const due = await listDueWebhooks(ctx.db, isoNow(ctx), [...senders.keys(), ...served], free)
  seats.crowded = due.length === free
  if (!seats.crowded) served.clear()
  for (const id of due) {
    const sender = sendDueDeliveries(ctx, id, seats, stopping)
      .catch((err: unknown) => ctx.world.log.error({ err, webhook: id }, 'notices not sent'))
      .finally(() => senders.delete(id))
    senders.set(id, sender)
  }
}

/**
 * Until nothing of the webhook is due, or a handful while others may wait. It is looked at anew for
 * each handful: changes count at once.
 */
async function sendDueDeliveries(
  ctx: Ctx,
  webhookId: string,
  seats: SenderSlots,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    const webhook = await findWebhookUnscoped(ctx.db, webhookId)
    if (webhook?.enabled !== 1) return
    const claimed = await claimDueDeliveries(ctx, webhookId)
    if (claimed.length === 0) return
    await Promise.all(claimed.map((delivery) => attemptDelivery(ctx, webhook, delivery)))
    if (seats.crowded) {
      seats.served.add(webhookId)
      return
    }
  }
}

export function claimDueDeliveries(ctx: Ctx, webhookId: string): Promise<WebhookDeliveryRow[]> {
  const now = ctx.world.clock.now()
  const times = { now: toIsoTime(now), lost_at: toIsoTime(now + CLAIM_LIFETIME_MS) }
  return inTx(ctx, (tx) =>
    updateDueDeliveriesClaimed(tx.db, { webhook_id: webhookId, ...times, most: MAX_DELIVERIES_PER_CLAIM }),
  )
}

async function attemptDelivery(ctx: Ctx, webhook: WebhookRow, delivery: WebhookDeliveryRow): Promise<void> {
  const answer = await postWebhookDelivery(ctx, webhook, delivery)
  const { webhook_id, id, next_at: claimed_to } = delivery
  const outcome = toDeliveryOutcome(answer, delivery.attempts, ctx.world.clock.now())
  const [kept] = await inTx(ctx, (tx) => updateDeliveryOutcome(tx.db, { webhook_id, id, claimed_to, ...outcome }))
  ctx.counts.webhookAttempts[outcome.status] = (ctx.counts.webhookAttempts[outcome.status] ?? 0) + 1
  logOutcome(ctx, delivery, outcome, kept !== undefined)
}

/** Where the claim was lost, whoever took it over says what becomes of the notice. */
function logOutcome(
  { world: { log } }: Ctx,
  delivery: WebhookDeliveryRow,
  outcome: DeliveryOutcome,
  kept: boolean,
): void {
  const { webhook_id: webhook, id, attempts } = delivery
  const { status, last_error: why, next_at } = outcome
  const fields = { webhook, delivery: id, attempts }
  if (status === 'delivered') log.info(fields, 'notice delivered')
  else if (!kept) log.info({ ...fields, why }, 'notice not delivered')
  else if (status === 'pending') log.info({ ...fields, why, next_at }, 'notice not delivered, will be tried again')
  else log.warn({ ...fields, why }, 'notice not delivered, given up')
}

export interface DeliveryResponse {
  status: number | null
  /** Null when the receiver took it. */
  error: string | null
}

/** One request. Whatever goes wrong is an answer too. */
export async function postWebhookDelivery(
  ctx: Ctx,
  webhook: WebhookRow,
  delivery: WebhookDeliveryRow,
): Promise<DeliveryResponse> {
  try {
    const body = JSON.stringify(deliveryPayload(delivery))
    const { status } = await createEgressClient(ctx).request({
      url: webhook.url,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(await signatureHeaders(ctx, webhook, delivery.id, body)) },
      body,
      timeoutMs: REQUEST_TIMEOUT_MS,
      maxBytes: MAX_RESPONSE_BYTES,
    })
    return toDeliveryResponse(status)
  } catch (error) {
    return toFailedResponse(ctx, webhook, error)
  }
}

/** Standard Webhooks: one id and time, and a signature by every secret that is in use. */
async function signatureHeaders(
  ctx: Ctx,
  webhook: WebhookRow,
  id: string,
  body: string,
): Promise<Record<string, string>> {
  const timestamp = Math.floor(ctx.world.clock.now() / 1000)
  const all = (await signingSecrets(ctx, webhook)).map((secret) => webhookSignatureHeaders(secret, id, timestamp, body))
  return { ...all[0], 'webhook-signature': all.map((headers) => headers['webhook-signature']).join(' ') }
}

function toDeliveryResponse(status: number): DeliveryResponse {
  return { status, error: status >= 200 && status < 300 ? null : `the receiver answered ${status}` }
}

function toFailedResponse(ctx: Ctx, webhook: WebhookRow, error: unknown): DeliveryResponse {
  // The answer came and only its body is of no use, which nobody reads anyway.
  if (error instanceof EgressError && error.status !== null) return toDeliveryResponse(error.status)
  if (error instanceof EgressError || error instanceof SecretUnavailable) return { status: null, error: error.message }
  ctx.world.log.error({ err: error, webhook: webhook.id }, 'notice not sent')
  return { status: null, error: 'internal error' }
}

export function toDeliveryOutcome({ status, error }: DeliveryResponse, attempts: number, now: number): DeliveryOutcome {
  const seen = { last_status: status, last_error: error }
  if (error === null) return { ...seen, status: 'delivered', next_at: null, delivered_at: toIsoTime(now) }
  const wait = WEBHOOK_BACKOFF_MS[attempts - 1]
  if (wait === undefined) return { ...seen, status: 'failed', next_at: null, delivered_at: null }
  return { ...seen, status: 'pending', next_at: toIsoTime(now + wait), delivered_at: null }
}
