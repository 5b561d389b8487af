import type { Tx } from '../../platform/ctx/ctx.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { insertWebhookDelivery, subscribedWebhooksQuery } from './webhook-event-rows.ts'

/** The events that a webhook can subscribe to. */
export const WEBHOOK_EVENTS = [
  'approval.requested',
  'approval.expiring',
  'task.finished',
  'connection.failing',
  'connection.tools_changed',
  'schedule.failed',
] as const
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number]

const SUBSCRIBED_WEBHOOKS = {
  'approval.requested': subscribedWebhooksQuery('approval.requested'),
  'approval.expiring': subscribedWebhooksQuery('approval.expiring'),
  'task.finished': subscribedWebhooksQuery('task.finished'),
  'connection.failing': subscribedWebhooksQuery('connection.failing'),
  'connection.tools_changed': subscribedWebhooksQuery('connection.tools_changed'),
  'schedule.failed': subscribedWebhooksQuery('schedule.failed'),
} satisfies Record<WebhookEvent, unknown>

/**
 * Queues a delivery for every webhook of the project that subscribes to the event, in the transaction of the change, so
 * that neither is committed without the other.
 */
export async function queueWebhookDeliveries(
  tx: Tx,
  projectId: string,
  event: WebhookEvent,
  subject: string,
): Promise<void> {
  const webhooks = await SUBSCRIBED_WEBHOOKS[event](tx.db, { project_id: projectId })
  if (webhooks.length === 0) return
  const now = isoNow(tx)
  const delivery = { id: tx.world.newId('dlv'), project_id: projectId, event, subject, now }
  for (const { id: webhook_id } of webhooks) await insertWebhookDelivery(tx.db, { webhook_id, ...delivery })
}
