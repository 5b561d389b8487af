import { sql } from 'kysely'
import { eventNamePattern } from '../../work/events/webhook-event-rows.ts'
import type { PageQuery } from '../../platform/http/page.ts'
import { listNewestPage, matchColumns } from '../../platform/store/newest-page.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { WebhookDeliveryRow } from '../../platform/store/tables.ts'

export interface DeliveryFilter extends PageQuery {
  status?: string | undefined
}

export function listDeliveries(db: Db, webhookId: string, filter: DeliveryFilter): Promise<WebhookDeliveryRow[]> {
  const ofWebhook = db.selectFrom('webhook_deliveries').selectAll().where('webhook_id', '=', webhookId)
  const { status } = filter
  // Pending and failed deliveries are few and have indexes of their own, which are used if the status is a literal.
  if (status === 'pending' || status === 'failed')
    return listNewestPage(ofWebhook.where('status', '=', sql.lit(status)), filter)
  return listNewestPage(ofWebhook, filter, matchColumns({ status }))
}

export function findDelivery(
  db: Db,
  projectIds: readonly string[],
  webhookId: string,
  id: string,
): Promise<WebhookDeliveryRow | undefined> {
  return db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .where('id', '=', id)
    .where('project_id', 'in', projectIds)
    .executeTakeFirst()
}

/** Enabled webhooks with due deliveries that are not in `busy`, the longest waiting first. */
export async function listDueWebhooks(db: Db, now: string, busy: readonly string[], limit: number): Promise<string[]> {
  const due = await selectDueWebhooks(db, { now, limit: limit + busy.length })
  return due
    .map(({ id }) => id)
    .filter((id) => !busy.includes(id))
    .slice(0, limit)
}

const selectDueWebhooks = prepareQuery<{ now: string; limit: number }, { id: string }>((db, arg) => {
  const first = db
    .selectFrom('webhooks')
    .select((eb) => [
      'webhooks.id',
      eb
        .selectFrom('webhook_deliveries')
        .select((waiting) => waiting.fn.min('next_at').as('next_at'))
        .whereRef('webhook_deliveries.webhook_id', '=', 'webhooks.id')
        .where('webhook_deliveries.status', '=', 'pending')
        .as('due'),
    ])
    .where('webhooks.enabled', '=', 1)
  const due = db.selectFrom(first.as('waiting')).select('id').where('due', '<=', arg('now'))
  return due.orderBy('due').limit(arg('limit'))
})

/**
 * Claims due deliveries: one of all replicas that see them moves `next_at` to the end of the claim. If that replica dies,
 * the deliveries become due again.
 */
export const updateDueDeliveriesClaimed = prepareQuery<
  { webhook_id: string; now: string; claimed_until: string; limit: number },
  WebhookDeliveryRow
>((db, arg) =>
  db
    .updateTable('webhook_deliveries')
    .set((eb) => ({ attempts: eb('attempts', '+', 1), next_at: arg('claimed_until') }))
    .where('webhook_id', '=', arg('webhook_id'))
    .where('status', '=', 'pending')
    .where('next_at', '<=', arg('now'))
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('webhook_deliveries as due')
        .select('due.id')
        .where('due.webhook_id', '=', arg('webhook_id'))
        .where('due.status', '=', 'pending')
        .where('due.next_at', '<=', arg('now'))
        .orderBy('due.next_at')
        .limit(arg('limit')),
    )
    .returningAll(),
)

export type DeliveryOutcome = Pick<
  WebhookDeliveryRow,
  'status' | 'next_at' | 'last_status' | 'last_error' | 'delivered_at'
>

/** Writes the outcome only while the claim is valid: not after it expired, and not after the webhook was disabled. */
export const updateDeliveryOutcome = prepareQuery<
  DeliveryOutcome & { webhook_id: string; id: string; claimed_until: string | null },
  { id: string }
>((db, arg) =>
  db
    .updateTable('webhook_deliveries')
    .set({
      status: arg('status'),
      next_at: arg('next_at'),
      last_status: arg('last_status'),
      last_error: arg('last_error'),
      delivered_at: arg('delivered_at'),
    })
    .where('webhook_id', '=', arg('webhook_id'))
    .where('id', '=', arg('id'))
    .where('status', '=', 'pending')
    .where('next_at', '=', arg('claimed_until'))
    .returning('id'),
)

/** Makes a delivery due now, with all its attempts, whatever its status was. */
export function updateDeliveryRequeued(
  db: Db,
  webhookId: string,
  id: string,
  now: string,
): Promise<WebhookDeliveryRow | undefined> {
  return db
    .updateTable('webhook_deliveries')
    .set({ status: 'pending', attempts: 0, next_at: now, delivered_at: null })
    .where('webhook_id', '=', webhookId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

export async function updatePendingDeliveriesFailed(db: Db, webhookId: string, error: string): Promise<void> {
  await db
    .updateTable('webhook_deliveries')
    .set({ status: 'failed', next_at: null, last_error: error })
    .where('webhook_id', '=', webhookId)
    .where('status', '=', 'pending')
    .execute()
}

/** Deletes some of the old deliveries and returns how many it deleted. */
export async function deleteDeliveriesBefore(db: Db, before: string, limit: number): Promise<number> {
  const old = db
    .selectFrom('webhook_deliveries')
    .select(['webhook_id', 'id'])
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(limit)
  const query = db
    .deleteFrom('webhook_deliveries')
    .where((row) => row(row.refTuple('webhook_id', 'id'), 'in', old.$asTuple('webhook_id', 'id')))
  return (await query.returning('id').execute()).length
}

export type UnannouncedExpiry = Pick<WebhookDeliveryRow, 'webhook_id' | 'project_id' | 'subject'>

/**
 * Pending approvals that expire soon, with the webhooks that subscribe to this and were not informed yet. For approvals
 * that were requested before `long_since`, soon begins earlier.
 */
export const listUnannouncedExpiries = prepareQuery<
  { now: string; soon: string; soon_if_long: string; long_since: string },
  UnannouncedExpiry
>((db, arg) =>
  db
    .selectFrom('approvals')
    .innerJoin('webhooks', 'webhooks.project_id', 'approvals.project_id')
    .select(['webhooks.id as webhook_id', 'approvals.project_id', 'approvals.id as subject'])
    .where('approvals.status', '=', 'pending')
    .where('approvals.expires_at', '>', arg('now'))
    .where('approvals.expires_at', '<=', arg('soon_if_long'))
    .where((eb) =>
      eb.or([eb('approvals.expires_at', '<=', arg('soon')), eb('approvals.created_at', '<=', arg('long_since'))]),
    )
    .where('webhooks.enabled', '=', 1)
    .where('webhooks.events', 'like', eventNamePattern('approval.expiring'))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('webhook_deliveries as announced')
            .select('announced.id')
            .whereRef('announced.webhook_id', '=', 'webhooks.id')
            .whereRef('announced.subject', '=', 'approvals.id')
            .where('announced.event', '=', 'approval.expiring'),
        ),
      ),
    )
    .orderBy('approvals.expires_at')
    .limit(500),
)
