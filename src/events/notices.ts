import type { Tx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import { listenersTo, queueDelivery } from './notice-rows.ts'

/** What a webhook can be told of. */
export const NOTICES = [
  'approval.requested',
  'approval.expiring',
  'task.finished',
  'connection.failing',
  'schedule.failed',
] as const
export type Notice = (typeof NOTICES)[number]

const LISTENERS = {
  'approval.requested': listenersTo('approval.requested'),
  'approval.expiring': listenersTo('approval.expiring'),
  'task.finished': listenersTo('task.finished'),
  'connection.failing': listenersTo('connection.failing'),
  'schedule.failed': listenersTo('schedule.failed'),
} satisfies Record<Notice, unknown>

/**
 * Queues a notice for every webhook of the project that wants it, in the transaction of the change itself: both
 * happen, or neither.
 */
export async function notice(tx: Tx, projectId: string, event: Notice, subject: string): Promise<void> {
  const webhooks = await LISTENERS[event](tx.db, { project_id: projectId })
  if (webhooks.length === 0) return
  const now = isoNow(tx)
  const told = { id: tx.world.newId('dlv'), project_id: projectId, event, subject, now }
  for (const { id: webhook_id } of webhooks) await queueDelivery(tx.db, { webhook_id, ...told })
}
