import { queryOptions } from '@tanstack/react-query'
import { callApi } from './http.ts'
import type { Schemas } from './types.ts'

/** Types and queries of the notifications about approvals. */
export const NOTIFIER_KINDS = ['slack', 'telegram', 'mail'] as const
export type NotifierKind = (typeof NOTIFIER_KINDS)[number]

export type Notifier = Schemas['Notifier']

export const RISKS = ['high', 'medium', 'low'] as const
export type Risk = (typeof RISKS)[number]

export const NOTICE_TIMES = ['now', 'digest', 'never'] as const

export type NotificationSettings = Schemas['NotificationSettings']
export type RiskSetting = NotificationSettings[Risk]

export type MyNotifications = Schemas['MyNotifications']

/** What the member does next to link an account. */
export type StartedLink = Schemas['StartedNotificationLink']

/** The services through which the project tells its members. */
export const notifiersQuery = queryOptions({
  queryKey: ['notifiers'],
  queryFn: async ({ signal }) => (await callApi<{ data: Notifier[] }>('/v1/notifiers', { signal })).data,
})

export const projectNotificationsQuery = queryOptions({
  queryKey: ['notifications', 'project'],
  queryFn: ({ signal }) => callApi<NotificationSettings>('/v1/notification-settings', { signal }),
})

export const myNotificationsQuery = queryOptions({
  queryKey: ['notifications', 'me'],
  queryFn: ({ signal }) => callApi<MyNotifications>('/v1/me/notifications', { signal }),
})
