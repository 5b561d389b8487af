import { z } from 'zod'
import { refuseApiKeys } from '../../identity/accounts/members.ts'
import { notFound } from '../../platform/base/problem.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import {
  defineProjectRead,
  defineWrite,
  type FindInput,
  nameRoutes,
  noContentResponse,
  writeOrganisation,
} from '../../platform/http/route.ts'
import type { NotifierRow } from '../../platform/store/tables.ts'
import { confirmMailLink, removeLink, startLink } from './links/links.ts'
import { changeMySettings, changeProjectSettings, readMyNotifications, readProjectSettings } from './my-settings.ts'
import { NOTIFIER_KINDS, type Notifier } from './notifier.ts'
import { findNotifierOfKind } from './notifier-table.ts'
import { removeNotifier, setNotifier, writeNotifierSecret } from './notifiers.ts'
import { findNotifier, listNotifiers } from './rows.ts'
import { NotificationSettings } from './settings.ts'
import {
  MyNotificationsView,
  NotificationLinkView,
  NotifierListView,
  NotifierView,
  readNotifierViews,
  StartedLinkView,
  toNotificationLinkView,
} from './view.ts'

/** The service that the path names, whether or not the project has set it up. */
function requireKind({ params }: Pick<FindInput<ProjectScope>, 'params'>): Notifier {
  const kind = NOTIFIER_KINDS.find((one) => one === params.kind)
  const notifier = kind && findNotifierOfKind(kind)
  if (!notifier) throw notFound('notifier')
  return notifier
}

async function notifierInScope(input: FindInput<ProjectScope>): Promise<NotifierRow> {
  const { kind } = requireKind(input)
  const [row] = await findNotifier(input.ctx.db, { project_id: input.scope.projectId, kind })
  if (!row) throw notFound('notifier')
  return row
}

const membersOnly = async ({ scope }: Pick<FindInput<ProjectScope>, 'scope'>) => refuseApiKeys(scope)

export const notificationRoutes = nameRoutes({
  listNotifiers: defineProjectRead('/v1/notifiers', {
    summary: 'List the services that tell members of approvals',
    description:
      'Slack, Telegram and mail, as far as an admin has set them up for the project. `hook_url` is the address to register with the service; no secret is returned.',
    responses: { 200: NotifierListView },
    async handle({ ctx, scope }) {
      return { data: await readNotifierViews(ctx, await listNotifiers(ctx.db, { project_id: scope.projectId })) }
    },
  }),

  setNotifier: defineWrite('PUT', '/v1/notifiers/:kind', {
    summary: 'Set up a service that tells members of approvals',
    description: 'The kind is `slack`, `telegram` or `mail`. Members then link their accounts themselves.',
    role: 'admin',
    body: z.object({ connection: z.string().min(1).max(200).meta({ description: 'The name of a connection.' }) }),
    responses: { 200: NotifierView },
    find: async (input) => requireKind(input),
    async handle({ ctx, scope, subject, body }) {
      const [view] = await readNotifierViews(ctx, [await setNotifier(ctx, scope, subject, body.connection)])
      return view
    },
  }),

  setNotifierSecret: defineWrite('POST', '/v1/notifiers/:kind/secret', {
    summary: 'Set the secret with which a service signs its calls',
    description: 'It is sealed; no endpoint returns it.',
    role: 'admin',
    body: z.object({ value: z.string().min(1).max(65_536) }),
    responses: { 200: NotifierView },
    find: notifierInScope,
    async handle({ ctx, scope, subject, params, body }) {
      await writeNotifierSecret(ctx, scope, requireKind({ params }), body.value)
      const [view] = await readNotifierViews(ctx, [subject])
      return view
    },
  }),

  deleteNotifier: defineWrite('DELETE', '/v1/notifiers/:kind', {
    summary: 'Remove a service that tells members of approvals',
    description: 'Members keep their links. Messages that wait are dropped.',
    role: 'admin',
    responses: { 204: z.null() },
    find: notifierInScope,
    async handle({ ctx, scope, subject }) {
      await removeNotifier(ctx, scope, subject)
      return noContentResponse()
    },
  }),

  getNotificationSettings: defineProjectRead('/v1/notification-settings', {
    summary: 'Read the default notification settings',
    description:
      'What the project has set for its members, or else the defaults of the service. A member can have settings of their own in `/v1/me/notifications`.',
    responses: { 200: NotificationSettings },
    handle: ({ ctx, scope }) => readProjectSettings(ctx.db, scope.projectId),
  }),

  updateNotificationSettings: defineWrite('PUT', '/v1/notification-settings', {
    summary: 'Change the default notification settings',
    description:
      'Replaces all settings of the project. They apply to every member without settings of their own, from the next request for an approval on.',
    role: 'admin',
    body: NotificationSettings,
    responses: { 200: NotificationSettings },
    async handle({ ctx, scope, body }) {
      await changeProjectSettings(ctx, scope, body)
      return body
    },
  }),

  getMyNotifications: defineProjectRead('/v1/me/notifications', {
    summary: 'Read your notification links and settings',
    description: 'Members only.',
    responses: { 200: MyNotificationsView },
    find: membersOnly,
    handle: ({ ctx, scope }) => readMyNotifications(ctx, scope),
  }),

  updateMyNotifications: defineWrite('PUT', '/v1/me/notifications', {
    summary: 'Change your notification settings',
    description: 'Null: the default settings of the project apply.',
    role: 'viewer',
    body: z.object({ settings: NotificationSettings.nullable() }),
    responses: { 200: MyNotificationsView },
    find: membersOnly,
    async handle({ ctx, scope, body }) {
      await changeMySettings(ctx, scope, body.settings)
      return readMyNotifications(ctx, scope)
    },
  }),

  createNotificationLink: defineWrite('POST', '/v1/me/notifications/links', {
    summary: 'Begin to link your account of a service',
    description:
      'Slack and Telegram: send the code to the bot from your account. Mail: a mail with a link to confirm is sent to your own address.',
    role: 'viewer',
    body: z.object({ kind: z.enum(NOTIFIER_KINDS) }),
    responses: { 200: StartedLinkView },
    find: membersOnly,
    handle: async ({ ctx, scope, body }) => startLink(ctx, scope, requireKind({ params: body })),
  }),

  confirmNotificationLink: writeOrganisation('POST', '/v1/me/notifications/confirm', {
    summary: 'Confirm your mail address for notifications',
    description: 'The token is in the link of the mail. It works once, and only for the member who asked for it.',
    role: 'viewer',
    body: z.object({ token: z.string().min(1).max(200) }),
    responses: { 200: NotificationLinkView },
    find: async ({ scope }) => refuseApiKeys(scope),
    handle: async ({ ctx, scope, body }) => toNotificationLinkView(await confirmMailLink(ctx, scope, body.token)),
  }),

  deleteNotificationLink: defineWrite('DELETE', '/v1/me/notifications/links/:kind', {
    summary: 'Remove your link to a service',
    description:
      'This service no longer notifies you of approvals in the project, and its buttons no longer decide for you. Members only; other members keep their links.',
    role: 'viewer',
    responses: { 204: z.null() },
    find: async (input) => {
      await membersOnly(input)
      return requireKind(input)
    },
    async handle({ ctx, scope, subject }) {
      await removeLink(ctx, scope, subject.kind)
      return noContentResponse()
    },
  }),
})
