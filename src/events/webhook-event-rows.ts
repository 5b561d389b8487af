import { sql } from 'kysely'
import { prepareQuery } from '../store/prepared-query.ts'
import type { WebhookDeliveryRow } from '../store/tables.ts'

/** Finds a name in the JSON list of a webhook's events. */
export const eventNamePattern = (event: string): string => `%"${event}"%`

/**
 * The webhooks that want an event. It only reads: on SQLite it takes 2 µs where nobody listens, and an `insert … select`
 * that finds nobody takes 20. One query an event, because a pattern that is a parameter makes SQLite plan it anew each
 * time.
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

/** Whether there is any for the project in that column, inside a statement that is about something else of it. */
export const hasSubscribedWebhook = (event: string, column: string) =>
  sql<number>`case when exists (select 1 from webhooks where project_id = ${sql.ref(column)} and enabled = 1
    and events like ${sql.lit(eventNamePattern(event))}) then 1 else 0 end`

export type NewWebhookDelivery = Pick<WebhookDeliveryRow, 'webhook_id' | 'id' | 'project_id' | 'event' | 'subject'> & {
  now: string
}

/** Due at once. That an approval expires is told once a webhook: the index for it decides over all replicas. */
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
