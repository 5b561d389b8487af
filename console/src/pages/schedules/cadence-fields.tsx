import type { Cadence } from '../../api/setup-queries.ts'
import { Select, TextField } from '../../ui/form-fields.tsx'
import { TimeZoneField } from '../../ui/time-zone-field.tsx'
import { schedulesText } from './text.ts'

/** The text in the inputs, which may not be a valid cadence yet. */
export interface CadenceInput {
  kind: Cadence['kind']
  minutes: string
  day: string
  time: string
  expr: string
  tz: string
}

export function toCadenceInput(cadence: Cadence | undefined): CadenceInput {
  const fixed = { kind: cadence?.kind ?? 'daily', minutes: '60', day: '1', time: '08:30' }
  const input: CadenceInput = { ...fixed, expr: '30 8 * * 1-5', tz: Intl.DateTimeFormat().resolvedOptions().timeZone }
  if (!cadence) return input
  if (cadence.kind === 'cron') return { ...input, expr: cadence.expr, tz: cadence.tz }
  if (cadence.kind === 'every') return { ...input, minutes: String(cadence.seconds / 60) }
  const time = [cadence.hour, cadence.minute].map((part) => String(part).padStart(2, '0')).join(':')
  return cadence.kind === 'monthly' ? { ...input, time, day: String(cadence.day) } : { ...input, time }
}

/** Returns null while the inputs are not a valid cadence. The service checks cron expressions. */
export function parseCadence({ kind, minutes, day, time, expr, tz }: CadenceInput): Cadence | null {
  if (kind === 'cron') return expr.trim() !== '' && tz !== '' ? { kind, expr, tz } : null
  const seconds = Math.round(Number(minutes) * 60)
  if (kind === 'every') return seconds >= 1 ? { kind, seconds } : null
  const [hour = NaN, minute = NaN] = time.split(':').map(Number)
  if (Number.isNaN(hour + minute)) return null
  if (kind === 'daily') return { kind, hour, minute }
  return Number(day) >= 1 && Number(day) <= 31 ? { kind, day: Number(day), hour, minute } : null
}

const KINDS = ['every', 'daily', 'monthly', 'cron'] as const

export function CadenceFields({ input, onChange }: { input: CadenceInput; onChange: (input: CadenceInput) => void }) {
  const { kind } = input
  const field = (name: Exclude<keyof CadenceInput, 'kind' | 'tz'>, label: string, rest: object) => (
    <TextField label={label} value={input[name]} onChange={(to) => onChange({ ...input, [name]: to })} {...rest} />
  )
  return (
    <div className={`grid gap-4 ${kind === 'monthly' ? 'sm:grid-cols-[2fr_1fr_1fr]' : 'sm:grid-cols-2'}`}>
      <Select
        label={schedulesText.frequency}
        value={kind}
        options={KINDS.map((option) => [option, schedulesText.cadenceKinds[option]])}
        onChange={(to) => onChange({ ...input, kind: KINDS.find((option) => option === to) ?? kind })}
      />
      {kind === 'every' && field('minutes', schedulesText.minutes, { type: 'number', min: 0, step: 'any' })}
      {kind === 'monthly' && field('day', schedulesText.dayOfMonth, { type: 'number', min: 1, max: 31 })}
      {(kind === 'daily' || kind === 'monthly') && field('time', schedulesText.timeUtc, { type: 'time' })}
      {kind === 'cron' && (
        <TimeZoneField label={schedulesText.timeZone} value={input.tz} onChange={(tz) => onChange({ ...input, tz })} />
      )}
      {kind === 'cron' && (
        <div className="sm:col-span-2">{field('expr', schedulesText.cron, { hint: schedulesText.cronHint })}</div>
      )}
    </div>
  )
}
