import { z } from 'zod'
import { ApprovalDetailView } from '../requests/detail-view.ts'
import { serviceUrl } from '../../platform/config/service-url.ts'
import { listConnectionNames } from './rows.ts'
import { listConnectionsWithSecret } from '../../identity/vault/secrets.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { NotificationLinkRow, NotifierRow } from '../../platform/store/tables.ts'
import { NOTIFIER_KINDS } from './notifier.ts'
import { findNotifierOfKind } from './notifier-table.ts'
import { NotificationSettings } from './settings.ts'

export const NotifierView = z
  .object({
    kind: z.enum(NOTIFIER_KINDS),
    connection: z.string().nullable().meta({ description: 'The name of the connection; null: it was deleted.' }),
    connection_id: z.string(),
    has_secret: z.boolean(),
    secret: z.string().nullable().meta({ description: 'What the secret is, in words; null: the service has none.' }),
    hook_url: z
      .string()
      .nullable()
      .meta({ description: 'The address to register with the service, for clicks on buttons; null: it has none.' }),
    created_at: z.string(),
  })
  .meta({ id: 'Notifier' })

export const NotifierListView = z.object({ data: z.array(NotifierView) }).meta({ id: 'NotifierList' })

export async function readNotifierViews(ctx: Ctx, rows: readonly NotifierRow[]) {
  const names = await listConnectionNames(ctx.db, rows)
  const owners = rows.map(({ id, project_id }) => ({ id, project_id, secret_ref: null }))
  const withSecret = await listConnectionsWithSecret(ctx, owners)
  return rows.map((row) => ({
    kind: row.kind,
    connection: names.get(row.connection_id) ?? null,
    connection_id: row.connection_id,
    has_secret: withSecret.has(row.id),
    secret: findNotifierOfKind(row.kind).secret,
    hook_url: findNotifierOfKind(row.kind).hook ? serviceUrl(ctx.config, `/v1/hooks/notifiers/${row.id}`) : null,
    created_at: row.created_at,
  }))
}

export const NotificationLinkView = z
  .object({
    kind: z.enum(NOTIFIER_KINDS),
    address: z.string().meta({ description: 'The user id at Slack, the chat id at Telegram, or the mail address.' }),
    linked_at: z.string(),
  })
  .meta({ id: 'NotificationLink' })

export const toNotificationLinkView = ({ kind, address, linked_at }: NotificationLinkRow) => ({
  kind,
  address,
  linked_at,
})

export const MyNotificationsView = z
  .object({
    links: z.array(NotificationLinkView),
    settings: NotificationSettings.nullable().meta({ description: 'Null: those of the project.' }),
    project_settings: NotificationSettings,
    available: z.array(z.enum(NOTIFIER_KINDS)).meta({ description: 'The services that the project has set up.' }),
  })
  .meta({ id: 'MyNotifications' })

export const StartedLinkView = z
  .object({
    code: z.string().optional().meta({ description: 'Send it to the bot from the account that is to be linked.' }),
    expires_at: z.string(),
    url: z.string().optional().meta({ description: 'An address that sends the code.' }),
    sent_to: z.string().optional().meta({ description: 'The address that got a mail with a link to confirm it.' }),
  })
  .meta({ id: 'StartedNotificationLink' })

export const LinkedApprovalView = z
  .object({
    approval: ApprovalDetailView,
    member: z.object({ id: z.string(), name: z.string().nullable(), email: z.string() }),
  })
  .meta({ id: 'LinkedApproval' })
