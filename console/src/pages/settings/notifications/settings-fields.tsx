import {
  NOTICE_TIMES,
  type NotificationSettings,
  NOTIFIER_KINDS,
  type NotifierKind,
  RISKS,
  type Risk,
  type RiskSetting,
} from '../../../api/notification-queries.ts'
import { Checkbox, TextField } from '../../../ui/form-fields.tsx'
import { TimeZoneField } from '../../../ui/time-zone-field.tsx'
import { notificationsText } from './text.ts'

const text = notificationsText.form

/** What a quiet night usually is, when quiet hours are turned on. */
const USUAL_QUIET_HOURS = { from: '22:00', to: '07:00' }

/** The fields of notification settings: by risk, quiet hours, digest and time zone. */
export function SettingsFields({
  settings,
  onChange,
}: {
  settings: NotificationSettings
  onChange: (settings: NotificationSettings) => void
}) {
  const { quiet_hours, wake_for_high, digest_at, time_zone } = settings
  const change = (changed: Partial<NotificationSettings>) => onChange({ ...settings, ...changed })
  return (
    <>
      <div className="flex flex-col divide-y divide-line">
        {RISKS.map((risk) => (
          <RiskFields
            key={risk}
            risk={risk}
            setting={settings[risk]}
            onChange={(setting) => change({ [risk]: setting })}
          />
        ))}
      </div>
      <div className="flex flex-col gap-2">
        <Checkbox
          label={text.quietHours}
          checked={quiet_hours !== null}
          onChange={(on) => change({ quiet_hours: on ? USUAL_QUIET_HOURS : null })}
        />
        {quiet_hours && <QuietHours hours={quiet_hours} onChange={(to) => change({ quiet_hours: to })} />}
        {quiet_hours && (
          <Checkbox label={text.wake} checked={wake_for_high} onChange={(on) => change({ wake_for_high: on })} />
        )}
      </div>
      <div className="grid gap-4 sm:max-w-xl sm:grid-cols-2">
        <TextField
          label={text.digestAt}
          type="time"
          required
          value={digest_at}
          onChange={(to) => change({ digest_at: to })}
        />
        <TimeZoneField label={text.timeZone} value={time_zone} onChange={(to) => change({ time_zone: to })} />
      </div>
    </>
  )
}

/** When members hear about approvals of one risk, and through which services. */
function RiskFields({
  risk,
  setting: { via, when },
  onChange,
}: {
  risk: Risk
  setting: RiskSetting
  onChange: (setting: RiskSetting) => void
}) {
  const name = text.risks[risk]
  const toggle = (kind: NotifierKind, on: boolean) =>
    // Always in the same order, so that the same choice is the same value.
    NOTIFIER_KINDS.filter((one) => (one === kind ? on : via.includes(one)))
  return (
    <div role="group" aria-label={name} className="flex flex-wrap items-center gap-x-6 gap-y-2 py-3 first:pt-0">
      <span className="w-24 font-medium">{name}</span>
      <select
        aria-label={text.whenOf(name)}
        className="field h-8 w-44"
        value={when}
        onChange={({ target }) => onChange({ via, when: NOTICE_TIMES.find((one) => one === target.value) ?? when })}
      >
        {NOTICE_TIMES.map((one) => (
          <option key={one} value={one}>
            {text.when[one]}
          </option>
        ))}
      </select>
      <fieldset disabled={when === 'never'} className="flex gap-4 disabled:opacity-50">
        {NOTIFIER_KINDS.map((kind) => (
          <Checkbox
            key={kind}
            label={notificationsText.services[kind]}
            checked={via.includes(kind)}
            onChange={(on) => onChange({ when, via: toggle(kind, on) })}
          />
        ))}
      </fieldset>
    </div>
  )
}

function QuietHours({
  hours,
  onChange,
}: {
  hours: { from: string; to: string }
  onChange: (hours: { from: string; to: string }) => void
}) {
  return (
    <div className="flex flex-col gap-1">
      <div className="flex gap-4">
        <TextField
          label={text.from}
          type="time"
          required
          value={hours.from}
          onChange={(from) => onChange({ ...hours, from })}
        />
        <TextField
          label={text.to}
          type="time"
          required
          value={hours.to}
          onChange={(to) => onChange({ ...hours, to })}
        />
      </div>
      <p className="text-xs text-muted">{text.quietHint}</p>
    </div>
  )
}
