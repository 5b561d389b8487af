import { useEffect, useState } from 'react'
import { serviceNow } from '../api/http.ts'

/** The service's time, again every `ms`. */
export function useNow(ms: number): number {
  const [now, setNow] = useState(serviceNow)
  useEffect(() => {
    const timer = setInterval(() => setNow(serviceNow()), ms)
    return () => clearInterval(timer)
  }, [ms])
  return now
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'narrow' })

function ago(ts: string, now: number): string {
  const past = Date.parse(ts) - now
  const unit = UNITS.find(([, ms]) => Math.abs(past) >= ms)
  return unit ? relative.format(Math.round(past / unit[1]), unit[0]) : 'just now'
}

export function Ago({ ts }: { ts: string }) {
  const now = useNow(15_000)
  return (
    <time dateTime={ts} title={new Date(ts).toLocaleString()} className="whitespace-nowrap tabular-nums">
      {ago(ts, now)}
    </time>
  )
}

export function clockTime(ts: string): string {
  return new Date(ts).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} m ${Math.floor((ms % 60_000) / 1_000)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} m`
}

/** Minutes and seconds left, as on an egg timer. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

export function dollars(amount: number): string {
  return `$${amount < 0.01 && amount > 0 ? amount.toFixed(4) : amount.toFixed(2)}`
}

export function bytes(size: number): string {
  if (size < 1_024) return `${size} B`
  return size < 1_048_576 ? `${(size / 1_024).toFixed(1)} KB` : `${(size / 1_048_576).toFixed(1)} MB`
}
