import type { Approval } from '../../api/types.ts'
import { formatCountdown, formatDateTime, formatTimeLeft } from '../../ui/format.ts'
import { approvalsText } from './text.ts'
import { useNow } from '../../ui/time.tsx'

const SOON_MS = 60_000
/** For approvals of a day or longer. */
const SOON_IF_LONG_MS = 3_600_000
const LONG_MS = 86_400_000

/** The time left to decide, as a number and a bar. */
export function Countdown({ approval }: { approval: Pick<Approval, 'created_at' | 'expires_at'> }) {
  const now = useNow(500)
  const end = Date.parse(approval.expires_at ?? '')
  if (Number.isNaN(end)) return null
  const left = Math.max(0, end - now)
  const lifetime = end - Date.parse(approval.created_at)
  const share = left / Math.max(1, lifetime)
  const colour = left < (lifetime < LONG_MS ? SOON_MS : SOON_IF_LONG_MS) ? 'text-bad' : 'text-wait'
  return (
    <span
      role="timer"
      aria-label={approvalsText.timeLeft(formatTimeLeft(left))}
      title={formatDateTime(end)}
      className={`inline-flex items-center gap-2 ${colour}`}
    >
      <span aria-hidden className="h-1 w-14 overflow-hidden rounded-full bg-off-soft max-sm:hidden">
        <span
          className="block h-full origin-left rounded-full bg-current"
          style={{ transform: `scaleX(${Math.min(1, share)})` }}
        />
      </span>
      <span className="min-w-9 text-right text-xs font-medium whitespace-nowrap tabular-nums">
        {formatCountdown(left)}
      </span>
    </span>
  )
}
