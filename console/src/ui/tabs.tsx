import { type ReactNode, useEffect, useRef } from 'react'

/** A row of views of the same thing. The chosen one lives with the caller, in the address where that helps. */
export function Tabs<T extends string>({
  label,
  tabs,
  value,
  onChange,
}: {
  label: string
  /** A count is shown also while it is zero, so that nothing moves when it no longer is. */
  tabs: { value: T; label: ReactNode; count?: number | undefined; max?: number }[]
  value: T
  onChange: (value: T) => void
}) {
  const row = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const chosen = row.current?.querySelector<HTMLElement>('[aria-pressed="true"]')
    // On a phone the chosen one may stand outside of what is in sight.
    if (chosen) row.current?.scrollTo(chosen.offsetLeft + chosen.offsetWidth - row.current.clientWidth, 0)
  }, [value])
  return (
    <div ref={row} role="group" aria-label={label} className="relative flex gap-0.5 overflow-x-auto">
      {tabs.map((tab) => (
        <button
          key={tab.value}
          type="button"
          aria-pressed={tab.value === value}
          onClick={() => onChange(tab.value)}
          className="flex h-7 items-center gap-1.5 rounded-md px-2.5 whitespace-nowrap text-muted hover:bg-hover hover:text-text aria-pressed:bg-accent-soft aria-pressed:font-medium aria-pressed:text-accent"
        >
          {tab.label}
          {tab.count !== undefined && <CountBadge value={tab.count} {...(tab.max && { max: tab.max })} />}
        </button>
      ))}
    </div>
  )
}

/** `most` is how far it was counted. */
export function CountBadge({ value, urgent = false, max }: { value: number; urgent?: boolean; max?: number }) {
  const look = urgent ? 'bg-wait-soft text-wait' : 'bg-off-soft text-muted'
  return (
    <span className={`inline-block min-w-6 rounded-full px-1.5 text-center text-xs tabular-nums ${look}`}>
      {value.toLocaleString('en')}
      {max !== undefined && value >= max && '+'}
    </span>
  )
}
