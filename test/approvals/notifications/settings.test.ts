import { describe, expect, test } from 'vitest'
import { DEFAULT_SETTINGS, NotificationSettings, planNotice } from '../../../src/approvals/notifications/settings.ts'

const at = (iso: string) => Date.parse(iso)
const planned = (settings: Partial<NotificationSettings>, risk: string, now: string) => {
  const { dueAt, ...plan } = planNotice({ ...DEFAULT_SETTINGS, ...settings }, risk, at(now))
  return { due: new Date(dueAt).toISOString(), ...plan }
}

const NIGHT = { quiet_hours: { from: '22:00', to: '07:00' }, time_zone: 'Europe/Berlin' }

describe('when a member hears of a request', () => {
  test.each([
    ['2026-03-02T20:59:59.000Z', '2026-03-02T20:59:59.000Z'],
    ['2026-03-02T21:00:00.000Z', '2026-03-03T06:00:00.000Z'],
    ['2026-03-03T05:59:59.999Z', '2026-03-03T06:00:00.000Z'],
    ['2026-03-03T06:00:00.000Z', '2026-03-03T06:00:00.000Z'],
    // The night in which the clocks go forward.
    ['2026-03-28T22:00:00.000Z', '2026-03-29T05:00:00.000Z'],
  ])('with quiet hours from 22:00 to 07:00 in Berlin, a request at %s is told at %s', (now, due) => {
    expect(planned(NIGHT, 'medium', now).due).toBe(due)
  })

  test('quiet hours within a day end on the same day', () => {
    const quiet_hours = { from: '12:00', to: '13:30' }
    expect(planned({ quiet_hours }, 'low', '2026-03-02T12:15:00.000Z').due).toBe('2026-03-02T13:30:00.000Z')
    expect(planned({ quiet_hours }, 'low', '2026-03-02T11:59:00.000Z').due).toBe('2026-03-02T11:59:00.000Z')
  })

  test('a request of high risk, or of an unknown one, does not wait for the end of quiet hours, unless the member wants that', () => {
    const now = '2026-03-02T23:00:00.000Z'
    for (const risk of ['high', 'extreme']) expect(planned(NIGHT, risk, now).due).toBe(now)
    expect(planned({ ...NIGHT, wake_for_high: false }, 'high', now).due).toBe('2026-03-03T06:00:00.000Z')
  })

  test('a digest is due at the next time of the digest in the time zone of the member', () => {
    const settings = { low: { via: ['mail' as const], when: 'digest' as const }, time_zone: 'America/New_York' }
    expect(planned(settings, 'low', '2026-03-02T14:00:00.000Z')).toEqual({
      due: '2026-03-03T14:00:00.000Z',
      via: ['mail'],
      isDigest: true,
    })
    expect(planned(settings, 'low', '2026-03-02T13:59:00.000Z').due).toBe('2026-03-02T14:00:00.000Z')
  })

  test('a member who wants to hear nothing is told through no service', () => {
    expect(planned({ low: { via: ['mail'], when: 'never' } }, 'low', '2026-03-02T14:00:00.000Z').via).toEqual([])
  })
})

describe('the form of settings', () => {
  test('the default is valid', () => {
    expect(NotificationSettings.parse(DEFAULT_SETTINGS)).toEqual(DEFAULT_SETTINGS)
  })

  test.each([
    ['a time that does not exist', { digest_at: '24:00' }],
    ['a time without a leading zero', { digest_at: '9:00' }],
    ['an unknown time zone', { time_zone: 'Mars/Base' }],
    ['a service twice', { low: { via: ['mail', 'mail'], when: 'now' } }],
    ['an unknown service', { low: { via: ['fax'], when: 'now' } }],
    ['quiet hours without a length', { quiet_hours: { from: '07:00', to: '07:00' } }],
  ])('%s is refused', (_, change) => {
    expect(NotificationSettings.safeParse({ ...DEFAULT_SETTINGS, ...change }).success).toBe(false)
  })
})
