import type { Cadence } from '../../api/setup-queries.ts'

const two = (value: number) => String(value).padStart(2, '0')

export function cadenceText(cadence: Cadence): string {
  if (cadence.kind === 'every') return `every ${span(cadence.seconds)}`
  const at = timeOf(cadence)
  return cadence.kind === 'daily' ? `daily at ${at}` : `day ${cadence.day} of the month at ${at}`
}

export const timeOf = ({ hour, minute }: { hour: number; minute: number }) => `${two(hour)}:${two(minute)}`

function span(seconds: number): string {
  if (seconds % 86_400 === 0) return `${seconds / 86_400} d`
  if (seconds % 3_600 === 0) return `${seconds / 3_600} h`
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`
}

/** The first due time, and those that follow from it. */
export function nextRuns(cadence: Cadence, first: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => shown(after(new Date(first), cadence, i)))
}

/** When a new cadence would be due first; the service decides, this shows it beforehand. */
export function firstRun(cadence: Cadence, now: Date): string {
  if (cadence.kind === 'every') return new Date(now.getTime() + cadence.seconds * 1_000).toISOString()
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  const today = new Date(Date.UTC(year, month, day, cadence.hour, cadence.minute))
  const slot = cadence.kind === 'daily' ? today : after(now, cadence, 0)
  return (slot > now ? slot : after(slot, cadence, 1)).toISOString()
}

function after(first: Date, cadence: Cadence, steps: number): Date {
  if (cadence.kind === 'every') return new Date(first.getTime() + steps * cadence.seconds * 1_000)
  if (cadence.kind === 'daily') return new Date(first.getTime() + steps * 86_400_000)
  const [year, month] = [first.getUTCFullYear(), first.getUTCMonth() + steps]
  // A day that the month does not have is its last one.
  const day = Math.min(cadence.day, new Date(Date.UTC(year, month + 1, 0)).getUTCDate())
  return new Date(Date.UTC(year, month, day, cadence.hour, cadence.minute))
}

const shown = (at: Date) => at.toISOString().slice(0, 16).replace('T', ' ')
