import { excluded, prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { NotificationSettingsRow, NotifierRow } from '../../platform/store/tables.ts'

export const listNotifiers = prepareQuery<{ project_id: string }, NotifierRow>((db, arg) =>
  db.selectFrom('notifiers').selectAll().where('project_id', '=', arg('project_id')).orderBy('kind'),
)

export const findNotifier = prepareQuery<Pick<NotifierRow, 'project_id' | 'kind'>, NotifierRow>((db, arg) =>
  db.selectFrom('notifiers').selectAll().where('project_id', '=', arg('project_id')).where('kind', '=', arg('kind')),
)

/** Not limited to a scope: the id is a part of the address that the service calls. */
export const findNotifierUnscoped = prepareQuery<{ id: string }, NotifierRow>((db, arg) =>
  db.selectFrom('notifiers').selectAll().where('id', '=', arg('id')),
)

/** The projects that notify their members of approvals. */
export const listNotifiedProjects = prepareQuery<object, { project_id: string }>((db) =>
  db.selectFrom('notifiers').select('project_id').distinct(),
)

/** A notifier that exists keeps its id, which is in the address that the service calls. */
export function upsertNotifier(db: Db, row: NotifierRow): Promise<NotifierRow> {
  return db
    .insertInto('notifiers')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'kind']).doUpdateSet({ connection_id: excluded('connection_id') }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** False if it was deleted before. */
export async function deleteNotifier(db: Db, id: string): Promise<boolean> {
  return (await db.deleteFrom('notifiers').where('id', '=', id).returning('id').execute()).length > 0
}

/** The settings of the project and of all its members. */
export const listNotificationSettings = prepareQuery<{ project_id: string }, NotificationSettingsRow>((db, arg) =>
  db.selectFrom('notification_settings').selectAll().where('project_id', '=', arg('project_id')),
)

/** The settings of one member; of the project, if `member_id` is empty. */
export const findNotificationSettings = prepareQuery<
  Pick<NotificationSettingsRow, 'project_id' | 'member_id'>,
  NotificationSettingsRow
>((db, arg) =>
  db
    .selectFrom('notification_settings')
    .selectAll()
    .where('project_id', '=', arg('project_id'))
    .where('member_id', '=', arg('member_id')),
)

export async function upsertNotificationSettings(db: Db, row: NotificationSettingsRow): Promise<void> {
  await db
    .insertInto('notification_settings')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'member_id'])
        .doUpdateSet({ settings: excluded('settings'), updated_at: excluded('updated_at') }),
    )
    .execute()
}

export async function deleteNotificationSettings(
  db: Db,
  { project_id, member_id }: Pick<NotificationSettingsRow, 'project_id' | 'member_id'>,
): Promise<void> {
  const query = db.deleteFrom('notification_settings').where('project_id', '=', project_id)
  await query.where('member_id', '=', member_id).execute()
}

/** The names of the connections by id. */
export async function listConnectionNames(
  db: Db,
  notifiers: readonly Pick<NotifierRow, 'connection_id'>[],
): Promise<Map<string, string>> {
  if (notifiers.length === 0) return new Map()
  const ids = notifiers.map(({ connection_id }) => connection_id)
  const rows = await db.selectFrom('connections').select(['id', 'name']).where('id', 'in', ids).execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}
