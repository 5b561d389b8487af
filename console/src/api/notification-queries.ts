import { queryOptions } from '@tanstack/react-query'
import { callOperation } from './http.ts'
import type { Schemas } from './types.ts'

/** Types and queries of the notifications about approvals. */
export type Notifier = Schemas.Notifier
export type NotifierKind = Notifier['kind']

export const NOTIFIER_KINDS = ['slack', 'telegram', 'mail'] as const satisfies NotifierKind[]

export type NotificationSettings = Schemas.NotificationSettings
export type Risk = 'high' | 'medium' | 'low'

export const RISKS = ['high', 'medium', 'low'] as const satisfies Risk[]

export const NOTICE_TIMES = ['now', 'digest', 'never'] as const satisfies RiskSetting['when'][]

export type RiskSetting = NotificationSettings[Risk]

export type MyNotifications = Schemas.MyNotifications

/** What the member does next to link an account. */
export type StartedLink = Schemas.StartedNotificationLink

/** The services through which the project tells its members. */
export const notifiersQuery = queryOptions({
  queryKey: ['notifiers'],
  queryFn: async ({ signal }) => (await callOperation('listNotifiers', {}, { signal })).data,
})

export const projectNotificationsQuery = queryOptions({
  queryKey: ['notifications', 'project'],
  queryFn: ({ signal }) => callOperation('getNotificationSettings', {}, { signal }),
})

export const myNotificationsQuery = queryOptions({
  queryKey: ['notifications', 'me'],
  queryFn: ({ signal }) => callOperation('getMyNotifications', {}, { signal }),
})
