import type { Cadence } from '../../api/setup-queries.ts'
import { Select, TextField } from '../../ui/form-fields.tsx'
import { timeOf } from './cadence.ts'

/** What the fields hold while somebody types. */
export interface Given {
  kind: Cadence['kind']
  minutes: string
  day: string
  time: string
}

export function givenOf(cadence: Cadence | undefined): Given {
  const given: Given = { kind: cadence?.kind ?? 'daily', minutes: '60', day: '1', time: '08:30' }
  if (!cadence) return given
  if (cadence.kind === 'every') return { ...given, minutes: String(cadence.seconds / 60) }
  const time = timeOf(cadence)
  return cadence.kind === 'monthly' ? { ...given, time, day: String(cadence.day) } : { ...given, time }
}

/** Null while the fields make no sense. */
export function cadenceOf({ kind, minutes, day, time }: Given): Cadence | null {
  const seconds = Math.round(Number(minutes) * 60)
  if (kind === 'every') return seconds >= 1 ? { kind, seconds } : null
  const [hour = NaN, minute = NaN] = time.split(':').map(Number)
  if (Number.isNaN(hour + minute)) return null
  if (kind === 'daily') return { kind, hour, minute }
  return Number(day) >= 1 && Number(day) <= 31 ? { kind, day: Number(day), hour, minute } : null
}

const KINDS: [Cadence['kind'], string][] = [
  ['every', 'Every so often'],
  ['daily', 'Every day'],
  ['monthly', 'Every month'],
]

export function When({ given, onChange }: { given: Given; onChange: (given: Given) => void }) {
  const { kind } = given
  const field = (name: 'minutes' | 'day' | 'time', label: string, rest: object) => (
    <TextField label={label} value={given[name]} onChange={(to) => onChange({ ...given, [name]: to })} {...rest} />
  )
  return (
    <div className={`grid gap-4 ${kind === 'monthly' ? 'sm:grid-cols-[2fr_1fr_1fr]' : 'sm:grid-cols-2'}`}>
      <Select
        label="When"
        value={kind}
        options={KINDS}
        onChange={(to) => onChange({ ...given, kind: KINDS.find(([one]) => one === to)?.[0] ?? kind })}
      />
      {kind === 'every' && field('minutes', 'Minutes', { type: 'number', min: 0, step: 'any' })}
      {kind === 'monthly' && field('day', 'Day', { type: 'number', min: 1, max: 31 })}
      {kind !== 'every' && field('time', 'At (UTC)', { type: 'time' })}
    </div>
  )
}
