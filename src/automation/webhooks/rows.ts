import type { PageQuery } from '../../platform/http/page.ts'
import { listNewestOfProjects } from '../../platform/store/newest-page.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { WebhookRow } from '../../platform/store/tables.ts'

export async function insertWebhook(db: Db, row: WebhookRow): Promise<void> {
  await db.insertInto('webhooks').values(row).execute()
}

export async function countWebhooks(db: Db, projectId: string): Promise<number> {
  const { n } = await db
    .selectFrom('webhooks')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow()
  return n
}

export function findWebhook(db: Db, projectIds: readonly string[], id: string): Promise<WebhookRow | undefined> {
  return db
    .selectFrom('webhooks')
    .selectAll()
    .where('id', '=', id)
    .where('project_id', 'in', projectIds)
    .executeTakeFirst()
}

const webhookById = prepareQuery<{ id: string }, WebhookRow>((db, arg) =>
  db.selectFrom('webhooks').selectAll().where('id', '=', arg('id')),
)

/** Not limited to a scope: never pass an id that came from a caller. */
export async function findWebhookUnscoped(db: Db, id: string): Promise<WebhookRow | undefined> {
  return (await webhookById(db, { id }))[0]
}

export function listWebhooks(db: Db, projectIds: readonly string[], filter: PageQuery): Promise<WebhookRow[]> {
  const webhooks = db.selectFrom('webhooks').selectAll()
  return listNewestOfProjects({
    projectIds,
    page: filter,
    rows: { query: webhooks },
    searchIn: (projectId) => ({ query: webhooks.where('project_id', '=', projectId) }),
  })
}

/** Locks the webhook until the commit, with an update that changes nothing. */
export function lockWebhook(db: Db, id: string): Promise<WebhookRow | undefined> {
  return db
    .updateTable('webhooks')
    .set((eb) => ({ updated_at: eb.ref('updated_at') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

/** Call it only after `lockWebhook`. */
export async function updateWebhook(db: Db, { id, ...fields }: WebhookRow): Promise<void> {
  await db.updateTable('webhooks').set(fields).where('id', '=', id).execute()
}

/** Deletes the webhook and its deliveries. False if the webhook did not exist any more. */
export async function deleteWebhookWithDeliveries(db: Db, id: string): Promise<boolean> {
  const deleted = await db.deleteFrom('webhooks').where('id', '=', id).returning('id').executeTakeFirst()
  await db.deleteFrom('webhook_deliveries').where('webhook_id', '=', id).execute()
  return deleted !== undefined
}
