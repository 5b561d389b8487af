import type { Tx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import { subscribedWebhooksQuery, insertWebhookDelivery } from './webhook-event-rows.ts'

/** What a webhook can be told of. */
export const WEBHOOK_EVENTS = [
  'approval.requested',
  'approval.expiring',
  'task.finished',
  'connection.failing',
  'schedule.failed',
] as const
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number]

const SUBSCRIBED_WEBHOOKS = {
  'approval.requested': subscribedWebhooksQuery('approval.requested'),
  'approval.expiring': subscribedWebhooksQuery('approval.expiring'),
  'task.finished': subscribedWebhooksQuery('task.finished'),
  'connection.failing': subscribedWebhooksQuery('connection.failing'),
  'schedule.failed': subscribedWebhooksQuery('schedule.failed'),
} satisfies Record<WebhookEvent, unknown>

/**
 * Queues a notice for every webhook of the project that wants it, in the transaction of the change itself: both
 * happen, or neither.
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
  const told = { id: tx.world.newId('dlv'), project_id: projectId, event, subject, now }
  for (const { id: webhook_id } of webhooks) await insertWebhookDelivery(tx.db, { webhook_id, ...told })
}
