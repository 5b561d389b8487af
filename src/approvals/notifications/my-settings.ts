import { appendAuditEntry } from '../../audit/append.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import type { Db } from '../../platform/store/store.ts'
import { listLinksOfMember } from './links/link-rows.ts'
import {
  deleteNotificationSettings,
  findNotificationSettings,
  listNotifiers,
  upsertNotificationSettings,
} from './rows.ts'
import { DEFAULT_SETTINGS, type NotificationSettings, parseSettings } from './settings.ts'
import { toNotificationLinkView } from './view.ts'

/** The settings of the project have an empty member id. */
const OF_PROJECT = ''

export async function readProjectSettings(db: Db, projectId: string): Promise<NotificationSettings> {
  const [row] = await findNotificationSettings(db, { project_id: projectId, member_id: OF_PROJECT })
  return parseSettings(row) ?? DEFAULT_SETTINGS
}

/** The default of all members of the project who have no settings of their own. */
export async function changeProjectSettings(
  ctx: Ctx,
  { projectId, actor }: ProjectScope,
  settings: NotificationSettings,
): Promise<void> {
  await inTx(ctx, async (tx) => {
    const row = { project_id: projectId, member_id: OF_PROJECT, settings: JSON.stringify(settings) }
    await upsertNotificationSettings(tx.db, { ...row, updated_at: isoNow(tx) })
    await appendAuditEntry(tx, projectId, actor, 'notification_settings.updated', projectId, {})
  })
}

/** What the calling member has linked and chosen in the project. */
export async function readMyNotifications(ctx: Ctx, { projectId, actor }: ProjectScope) {
  const owner = { project_id: projectId, member_id: actor.id }
  const links = await listLinksOfMember(ctx.db, owner)
  const [own] = await findNotificationSettings(ctx.db, owner)
  const notifiers = await listNotifiers(ctx.db, { project_id: projectId })
  return {
    links: links.map(toNotificationLinkView),
    settings: parseSettings(own),
    project_settings: await readProjectSettings(ctx.db, projectId),
    available: notifiers.map(({ kind }) => kind),
  }
}

/** Null: from now on the member has the settings of the project. */
export async function changeMySettings(
  ctx: Ctx,
  { projectId, actor }: ProjectScope,
  settings: NotificationSettings | null,
): Promise<void> {
  const owner = { project_id: projectId, member_id: actor.id }
  await inTx(ctx, async (tx) => {
    if (settings === null) await deleteNotificationSettings(tx.db, owner)
    else
      await upsertNotificationSettings(tx.db, {
        ...owner,
        settings: JSON.stringify(settings),
        updated_at: isoNow(tx),
      })
    await appendAuditEntry(tx, projectId, actor, 'notification_settings.updated', actor.id, {})
  })
}
