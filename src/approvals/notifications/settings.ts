import { z } from 'zod'
import { nextCronTime } from '../../platform/base/cron.ts'
import { timeZoneField } from '../../platform/base/cadence.ts'
import type { NotificationSettingsRow } from '../../platform/store/tables.ts'
import { NOTIFIER_KINDS, type NotifierKind } from './notifier.ts'

const timeOfDay = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, "must be a time such as '09:00'")
  .meta({ example: '09:00' })

const RiskSettings = z.object({
  via: z
    .array(z.enum(NOTIFIER_KINDS))
    .max(NOTIFIER_KINDS.length)
    .refine((kinds) => new Set(kinds).size === kinds.length, 'must not name a service twice'),
  when: z.enum(['now', 'digest', 'never']),
})

/** How a member is notified of requests, by their risk, and when. */
export const NotificationSettings = z
  .object({
    low: RiskSettings,
    medium: RiskSettings,
    high: RiskSettings,
    quiet_hours: z
      .object({ from: timeOfDay, to: timeOfDay })
      .refine(({ from, to }) => from !== to, 'must have different times')
      .nullable()
      .meta({ description: 'Messages wait until they end.' }),
    wake_for_high: z.boolean().meta({ description: 'Requests of high risk are sent during quiet hours, too.' }),
    digest_at: timeOfDay.meta({ description: 'When the digest is sent.' }),
    time_zone: timeZoneField,
  })
  .meta({ id: 'NotificationSettings' })
export type NotificationSettings = z.infer<typeof NotificationSettings>

/** Requests usually wait a few minutes only, so a digest would come too late for most of them. */
export const DEFAULT_SETTINGS: NotificationSettings = {
  low: { via: [...NOTIFIER_KINDS], when: 'now' },
  medium: { via: [...NOTIFIER_KINDS], when: 'now' },
  high: { via: [...NOTIFIER_KINDS], when: 'now' },
  quiet_hours: null,
  wake_for_high: true,
  digest_at: '09:00',
  time_zone: 'UTC',
}

/** The settings of a project or a member; null: none are stored. */
export const parseSettings = (
  row: Pick<NotificationSettingsRow, 'settings'> | undefined,
): NotificationSettings | null => (row ? JSON.parse(row.settings) : null)

export interface NoticePlan {
  via: readonly NotifierKind[]
  /** In milliseconds since 1970. */
  dueAt: number
  isDigest: boolean
}

/** When and through which services a member is notified of a request. */
export function planNotice(settings: NotificationSettings, risk: string, now: number): NoticePlan {
  // An unknown risk counts as high.
  const { via, when } = risk === 'low' || risk === 'medium' ? settings[risk] : settings.high
  if (when === 'never') return { via: [], dueAt: now, isDigest: false }
  if (when === 'digest') return { via, dueAt: nextTime(settings, settings.digest_at, now), isDigest: true }
  const wakes = settings.wake_for_high && risk !== 'low' && risk !== 'medium'
  return { via, dueAt: wakes ? now : endOfQuietHours(settings, now), isDigest: false }
}

/** Now, outside of quiet hours. During them, the next of their two times is their end. */
function endOfQuietHours(settings: NotificationSettings, now: number): number {
  if (!settings.quiet_hours) return now
  const from = nextTime(settings, settings.quiet_hours.from, now)
  const to = nextTime(settings, settings.quiet_hours.to, now)
  return to < from ? to : now
}

function nextTime({ time_zone: tz }: NotificationSettings, time: string, after: number): number {
  const [hour, minute] = time.split(':').map(Number)
  return nextCronTime({ expr: `${minute} ${hour} * * *`, tz }, after)
}
