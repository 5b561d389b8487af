import type { Cadence, Schedule } from '../../api/setup.ts'

const two = (value: number) => String(value).padStart(2, '0')

export function cadenceText(cadence: Cadence): string {
  if (cadence.kind === 'every') return `every ${span(cadence.seconds)}`
  const at = `${two(cadence.hour)}:${two(cadence.minute)}`
  return cadence.kind === 'daily' ? `daily at ${at}` : `day ${cadence.day} of the month at ${at}`
}

function span(seconds: number): string {
  if (seconds % 86_400 === 0) return `${seconds / 86_400} d`
  if (seconds % 3_600 === 0) return `${seconds / 3_600} h`
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`
}

/** The next due time as the service says it, and those that follow from it. */
export function nextRuns({ cadence, next_run_at }: Schedule, count: number): string[] {
  if (!next_run_at) return []
  const first = new Date(next_run_at)
  return Array.from({ length: count }, (_, i) => shown(after(first, cadence, i)))
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
