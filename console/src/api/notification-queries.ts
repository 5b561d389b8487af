import { queryOptions } from '@tanstack/react-query'
import { callApi } from './http.ts'

/** Types and queries of the notifications about approvals. */
export const NOTIFIER_KINDS = ['slack', 'telegram', 'mail'] as const
export type NotifierKind = (typeof NOTIFIER_KINDS)[number]

export interface Notifier {
  kind: NotifierKind
  connection: string | null
  connection_id: string
  has_secret: boolean
  secret: string | null
  hook_url: string | null
  created_at: string
}

export const RISKS = ['high', 'medium', 'low'] as const
export type Risk = (typeof RISKS)[number]

export const NOTICE_TIMES = ['now', 'digest', 'never'] as const

export interface RiskSetting {
  via: NotifierKind[]
  when: (typeof NOTICE_TIMES)[number]
}

export interface NotificationSettings {
  low: RiskSetting
  medium: RiskSetting
  high: RiskSetting
  quiet_hours: { from: string; to: string } | null
  wake_for_high: boolean
  digest_at: string
  time_zone: string
}

export interface MyNotifications {
  links: { kind: NotifierKind; address: string; linked_at: string }[]
  settings: NotificationSettings | null
  project_settings: NotificationSettings
  available: NotifierKind[]
}

export interface NotificationLink {
  code?: string
  expires_at: string
  url?: string
  sent_to?: string
}

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
