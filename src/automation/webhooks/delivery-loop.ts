import { webhookSignatureHeaders } from '../../connections/executors/webhook.ts'
import { waitAfter } from '../../platform/base/backoff.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { createLoop, type Loop } from '../../platform/ctx/loop.ts'
import { SecretUnavailable } from '../../platform/ctx/vault.ts'
import { isoNow, toIsoTime } from '../../platform/ctx/world.ts'
import { createEgressClient, EgressError } from '../../platform/egress/http-client.ts'
import type { WebhookDeliveryRow, WebhookRow } from '../../platform/store/tables.ts'
import { announceExpiringApprovals } from './announce-expiring.ts'
import {
  type DeliveryOutcome,
  listDueWebhooks,
  updateDeliveryOutcome,
  updateDueDeliveriesClaimed,
} from './delivery-rows.ts'
import { findWebhookUnscoped } from './rows.ts'
import { signingSecrets } from './secrets.ts'
import { deliveryPayload } from './view.ts'

const SWEEP_MS = 1_000
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** The wait after each failed attempt. The attempt after the last wait is the final one. */
export const WEBHOOK_BACKOFF_MS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR]

const REQUEST_TIMEOUT_MS = 10 * SECOND
/** A claim lasts longer than any attempt. After that the sender must have died, and another replica sends again. */
const CLAIM_LIFETIME_MS = 3 * REQUEST_TIMEOUT_MS
const MAX_RESPONSE_BYTES = 64 * 1024
const MAX_CONCURRENT_WEBHOOKS = 64
const MAX_DELIVERIES_PER_CLAIM = 8

/** The webhooks with a running sender. While more webhooks wait than slots exist, each gets one turn before any other. */
interface SenderSlots {
  senders: Map<string, Promise<void>>
  hasWaiting: boolean
  hadTurn: Set<string>
}

/**
 * Sends due deliveries until it is stopped. Each webhook with due deliveries has a sender of its own, so a receiver that
 * hangs delays only itself. If more webhooks wait than slots exist, they take turns.
 */
export function createWebhookDeliveryLoop(ctx: Ctx): Loop {
  const senders = new Map<string, Promise<void>>()
  const slots: SenderSlots = { senders, hasWaiting: false, hadTurn: new Set() }
  const stopping = new AbortController()
  const logFailure = (err: unknown) => ctx.world.log.error({ err }, 'webhook delivery failed')
  const loop = createLoop(ctx.world.clock, SWEEP_MS, () => startSenders(ctx, slots, stopping.signal), logFailure)
  return {
    start: () => loop.start(),
    async stop() {
      stopping.abort()
      await loop.stop()
      await Promise.all(senders.values())
    },
  }
}

async function startSenders(ctx: Ctx, slots: SenderSlots, stopping: AbortSignal): Promise<void> {
  const { senders, hadTurn } = slots
  const free = MAX_CONCURRENT_WEBHOOKS - senders.size
  await announceExpiringApprovals(ctx)
  if (free <= 0) return
  const due = await listDueWebhooks(ctx.db, isoNow(ctx), [...senders.keys(), ...hadTurn], free)
  slots.hasWaiting = due.length === free
  if (!slots.hasWaiting) hadTurn.clear()
  for (const id of due) {
    const sender = sendDueDeliveries(ctx, id, slots, stopping)
      .catch((err: unknown) => ctx.world.log.error({ err, webhook: id }, 'webhook deliveries not sent'))
      .finally(() => senders.delete(id))
    senders.set(id, sender)
  }
}

/**
 * Sends batches until the webhook has nothing due, or one batch while other webhooks wait. The webhook is read again for
 * every batch, so that changes take effect at once.
 */
async function sendDueDeliveries(
  ctx: Ctx,
  webhookId: string,
  slots: SenderSlots,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    const webhook = await findWebhookUnscoped(ctx.db, webhookId)
    if (webhook?.enabled !== 1) return
    const claimed = await claimDueDeliveries(ctx, webhookId)
    if (claimed.length === 0) return
    await Promise.all(claimed.map((delivery) => attemptDelivery(ctx, webhook, delivery)))
    if (slots.hasWaiting) {
      slots.hadTurn.add(webhookId)
      return
    }
  }
}

export function claimDueDeliveries(ctx: Ctx, webhookId: string): Promise<WebhookDeliveryRow[]> {
  const now = ctx.world.clock.now()
  const times = { now: toIsoTime(now), claimed_until: toIsoTime(now + CLAIM_LIFETIME_MS) }
  return inTx(ctx, (tx) =>
    updateDueDeliveriesClaimed(tx.db, { webhook_id: webhookId, ...times, limit: MAX_DELIVERIES_PER_CLAIM }),
  )
}

async function attemptDelivery(ctx: Ctx, webhook: WebhookRow, delivery: WebhookDeliveryRow): Promise<void> {
  const response = await postWebhookDelivery(ctx, webhook, delivery)
  const { webhook_id, id, next_at: claimed_until } = delivery
  const outcome = toDeliveryOutcome(response, delivery.attempts, ctx.world.clock.now())
  const [recorded] = await inTx(ctx, (tx) =>
    updateDeliveryOutcome(tx.db, { webhook_id, id, claimed_until, ...outcome }),
  )
  ctx.counts.webhookAttempts[outcome.status] = (ctx.counts.webhookAttempts[outcome.status] ?? 0) + 1
  logOutcome(ctx, delivery, outcome, recorded !== undefined)
}

/** If the claim was lost, another replica sends the delivery and logs its outcome. */
function logOutcome(
  { world: { log } }: Ctx,
  delivery: WebhookDeliveryRow,
  outcome: DeliveryOutcome,
  wasRecorded: boolean,
): void {
  const { webhook_id: webhook, id, attempts } = delivery
  const { status, last_error: why, next_at } = outcome
  const fields = { webhook, delivery: id, attempts }
  if (status === 'delivered') log.info(fields, 'webhook delivered')
  else if (!wasRecorded) log.info({ ...fields, why }, 'webhook not delivered')
  else if (status === 'pending') log.info({ ...fields, why, next_at }, 'webhook not delivered, will retry')
  else log.warn({ ...fields, why }, 'webhook not delivered, gave up')
}

export interface DeliveryResponse {
  status: number | null
  /** Null if the receiver accepted the delivery. */
  error: string | null
}

/** Sends one request. Never throws: every failure becomes a response with an error. */
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

/** The headers of Standard Webhooks: an id, a time and one signature for each active secret. */
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
  return { status, error: status >= 200 && status < 300 ? null : `the receiver responded with ${status}` }
}

function toFailedResponse(ctx: Ctx, webhook: WebhookRow, error: unknown): DeliveryResponse {
  // The status arrived and only the body failed, which is not used.
  if (error instanceof EgressError && error.status !== null) return toDeliveryResponse(error.status)
  if (error instanceof EgressError || error instanceof SecretUnavailable) return { status: null, error: error.message }
  ctx.world.log.error({ err: error, webhook: webhook.id }, 'webhook delivery not sent')
  return { status: null, error: 'internal error' }
}

export function toDeliveryOutcome({ status, error }: DeliveryResponse, attempts: number, now: number): DeliveryOutcome {
  const result = { last_status: status, last_error: error }
  if (error === null) return { ...result, status: 'delivered', next_at: null, delivered_at: toIsoTime(now) }
  const wait = waitAfter(WEBHOOK_BACKOFF_MS, attempts)
  if (wait === null) return { ...result, status: 'failed', next_at: null, delivered_at: null }
  return { ...result, status: 'pending', next_at: toIsoTime(now + wait), delivered_at: null }
}
