import { excluded, prepareQuery } from '../../../platform/store/prepared-query.ts'
import type { Db } from '../../../platform/store/store.ts'
import type { MemberRow, NotificationCodeRow, NotificationLinkRow } from '../../../platform/store/tables.ts'

type LinkKey = Pick<NotificationLinkRow, 'project_id' | 'member_id' | 'kind'>

/** A link with the member as it is now. */
export type LinkedMember = NotificationLinkRow & Pick<MemberRow, 'email' | 'name' | 'role'>

/** The links of all members. */
export const listLinkedMembers = prepareQuery<{ project_id: string }, LinkedMember>((db, arg) =>
  db
    .selectFrom('notification_links')
    .innerJoin('members', 'members.id', 'notification_links.member_id')
    .selectAll('notification_links')
    .select(['members.email', 'members.name', 'members.role'])
    .where('notification_links.project_id', '=', arg('project_id'))
    .orderBy('notification_links.member_id'),
)

export const listLinksOfMember = prepareQuery<Omit<LinkKey, 'kind'>, NotificationLinkRow>((db, arg) =>
  db
    .selectFrom('notification_links')
    .selectAll()
    .where('project_id', '=', arg('project_id'))
    .where('member_id', '=', arg('member_id'))
    .orderBy('kind'),
)

/** The member who gets messages at this address of a service, such as the user id at Slack. */
export const findLinkByAddress = prepareQuery<
  Pick<NotificationLinkRow, 'project_id' | 'kind' | 'address'>,
  NotificationLinkRow
>((db, arg) =>
  db
    .selectFrom('notification_links')
    .selectAll()
    .where('project_id', '=', arg('project_id'))
    .where('kind', '=', arg('kind'))
    .where('address', '=', arg('address')),
)

export async function upsertNotificationLink(db: Db, row: NotificationLinkRow): Promise<void> {
  await db
    .insertInto('notification_links')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'member_id', 'kind'])
        .doUpdateSet({ address: excluded('address'), linked_at: excluded('linked_at') }),
    )
    .execute()
}

/** False if there was no link. */
export async function deleteNotificationLink(db: Db, { project_id, member_id, kind }: LinkKey): Promise<boolean> {
  const query = db.deleteFrom('notification_links').where('project_id', '=', project_id)
  const deleted = await query.where('member_id', '=', member_id).where('kind', '=', kind).returning('kind').execute()
  return deleted.length > 0
}

export async function insertNotificationCode(db: Db, row: NotificationCodeRow): Promise<void> {
  await db.insertInto('notification_codes').values(row).execute()
}

/** Uses a code, once. No row if it is unknown, used or expired. */
export const takeNotificationCode = prepareQuery<
  Pick<NotificationCodeRow, 'hash' | 'kind'> & { now: string },
  NotificationCodeRow
>((db, arg) =>
  db
    .deleteFrom('notification_codes')
    .where('hash', '=', arg('hash'))
    .where('kind', '=', arg('kind'))
    .where('expires_at', '>', arg('now'))
    .returningAll(),
)

/** A member has one code of each kind, so that codes cannot pile up. */
export async function deleteCodesOfMember(db: Db, { project_id, member_id, kind }: LinkKey): Promise<void> {
  const query = db.deleteFrom('notification_codes').where('project_id', '=', project_id)
  await query.where('member_id', '=', member_id).where('kind', '=', kind).execute()
}

export async function deleteExpiredCodes(db: Db, now: string): Promise<void> {
  await db.deleteFrom('notification_codes').where('expires_at', '<=', now).execute()
}
