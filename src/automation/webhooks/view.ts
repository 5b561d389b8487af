import { z } from 'zod'
import { WEBHOOK_EVENTS, type WebhookEvent } from '../../work/events/webhook-events.ts'
import type { WebhookDeliveryRow, WebhookRow } from '../../platform/store/tables.ts'

export const WebhookView = z
  .object({
    id: z.string(),
    project_id: z.string(),
    url: z.string(),
    events: z.array(z.enum(WEBHOOK_EVENTS)),
    enabled: z.boolean(),
    previous_secret_until: z.string().nullable().meta({ description: 'Until when the previous secret signs as well.' }),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Webhook' })

export const WebhookWithSecretView = WebhookView.extend({
  secret: z.string().meta({ description: '`whsec_…`, shown only here.' }),
}).meta({ id: 'WebhookWithSecret' })

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const

export const DeliveryView = z
  .object({
    id: z.string().meta({ description: 'The `webhook-id` header of every attempt.' }),
    webhook_id: z.string(),
    project_id: z.string(),
    event: z.enum(WEBHOOK_EVENTS),
    payload: z.object({
      id: z.string(),
      type: z.enum(WEBHOOK_EVENTS),
      created_at: z.string(),
      data: z.object({ id: z.string() }),
    }),
    status: z.enum(DELIVERY_STATUSES),
    attempts: z.number().int(),
    next_at: z.string().nullable(),
    last_status: z.number().int().nullable(),
    last_error: z.string().nullable(),
    created_at: z.string(),
    delivered_at: z.string().nullable(),
  })
  .meta({ id: 'WebhookDelivery' })

export const parseWebhookEvents = (row: Pick<WebhookRow, 'events'>): WebhookEvent[] =>
  JSON.parse(row.events) as WebhookEvent[]

export function toWebhookView(row: WebhookRow) {
  return {
    id: row.id,
    project_id: row.project_id,
    url: row.url,
    events: parseWebhookEvents(row),
    enabled: row.enabled === 1,
    previous_secret_until: row.previous_until,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

/** The body that the receiver gets. It holds only ids, so a leaked delivery reveals nothing. */
export function deliveryPayload(row: WebhookDeliveryRow) {
  return { id: row.id, type: row.event, created_at: row.created_at, data: { id: row.subject } }
}

export function toDeliveryView(row: WebhookDeliveryRow) {
  return {
    id: row.id,
    webhook_id: row.webhook_id,
    project_id: row.project_id,
    event: row.event,
    payload: deliveryPayload(row),
    status: row.status,
    attempts: row.attempts,
    next_at: row.next_at,
    last_status: row.last_status,
    last_error: row.last_error,
    created_at: row.created_at,
    delivered_at: row.delivered_at,
  }
}
