import { dataFreshAt } from '../api/http.ts'
import { formatRelative, formatTime } from '../ui/format.ts'
import { useNow } from '../ui/time.tsx'
import { useLiveState } from './live-status.tsx'
import { shellText } from './text.ts'

const MINUTE_MS = 60_000

/** Shown on every page while the service is away. It covers the top of the page, so that nothing moves. */
export function UnreachableBanner() {
  return useLiveState() === 'offline' ? <Banner /> : null
}

function Banner() {
  // Renders the age again.
  useNow(15_000)
  const freshAt = dataFreshAt()
  const age = Date.now() - freshAt >= MINUTE_MS ? formatRelative(freshAt, Date.now()) : null
  return (
    <p
      role="alert"
      className="fixed top-0 right-0 left-12 z-30 flex h-12 items-center bg-bad-soft px-3 text-xs font-medium text-bad lg:left-54 lg:h-6 lg:justify-center"
    >
      {shellText.unreachable(formatTime(freshAt), age)}
    </p>
  )
}
