import { useEffect, useState } from 'react'
import { serverNow } from '../api/http.ts'
import { formatDateTime, formatRelative, formatTime } from './format.ts'

/** The server's time, updated every `ms` milliseconds. */
export function useNow(ms: number): number {
  const [now, setNow] = useState(serverNow)
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), ms)
    return () => clearInterval(timer)
  }, [ms])
  return now
}

/** A relative time, with the absolute time on hover. */
export function TimeAgo({ ts }: { ts: string }) {
  const now = useNow(15_000)
  return (
    <time dateTime={ts} title={formatDateTime(ts)} className="whitespace-nowrap tabular-nums">
      {formatRelative(ts, now)}
    </time>
  )
}

/** The time of day, with the date on hover. */
export function TimeOfDay({ ts, className }: { ts: string; className?: string }) {
  return (
    <time dateTime={ts} title={formatDateTime(ts)} className={className}>
      {formatTime(ts)}
    </time>
  )
}

/** The date and the time of day. */
export function DateTime({ ts }: { ts: string }) {
  return (
    <time dateTime={ts} className="whitespace-nowrap tabular-nums">
      {formatDateTime(ts)}
    </time>
  )
}
