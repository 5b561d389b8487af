import { sql } from 'kysely'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { WebhookDeliveryRow } from '../../platform/store/tables.ts'

/** A LIKE pattern that matches a name in the JSON list of a webhook's events. */
export const eventNamePattern = (event: string): string => `%"${event}"%`

/**
 * The enabled webhooks of a project for one event. On SQLite this read takes 2 µs if there is none; an `insert … select`
 * would take 20 µs. Each event has its own query, because SQLite plans a query with a pattern parameter again every time.
 */
export const subscribedWebhooksQuery = (event: string) =>
  prepareQuery<{ project_id: string }, { id: string }>((db, arg) =>
    db
      .selectFrom('webhooks')
      .select('id')
      .where('project_id', '=', arg('project_id'))
      .where('enabled', '=', 1)
      .where('events', 'like', eventNamePattern(event)),
  )

/** An SQL expression: 1 if the project in the column has an enabled webhook for the event, else 0. */
export const hasSubscribedWebhook = (event: string, column: string) =>
  sql<number>`case when exists (select 1 from webhooks where project_id = ${sql.ref(column)} and enabled = 1
    and events like ${sql.lit(eventNamePattern(event))}) then 1 else 0 end`

export type NewWebhookDelivery = Pick<WebhookDeliveryRow, 'webhook_id' | 'id' | 'project_id' | 'event' | 'subject'> & {
  now: string
}

/** A delivery that is due at once. A unique index keeps replicas from inserting `approval.expiring` twice. */
export const insertWebhookDelivery = prepareQuery<NewWebhookDelivery>((db, arg) =>
  db
    .insertInto('webhook_deliveries')
    .values({
      webhook_id: arg('webhook_id'),
      id: arg('id'),
      project_id: arg('project_id'),
      event: arg('event'),
      subject: arg('subject'),
      status: 'pending',
      attempts: 0,
      next_at: arg('now'),
      created_at: arg('now'),
    })
    .onConflict((conflict) => conflict.doNothing())
    .$castTo<never>(),
)
