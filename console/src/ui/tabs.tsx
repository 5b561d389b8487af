import { type ReactNode, useEffect, useRef } from 'react'
import { formatNumber } from './format.ts'

/** A row of toggle buttons. The caller keeps the selected value, usually in the URL. */
export function Tabs<T extends string>({
  label,
  tabs,
  value,
  onChange,
}: {
  label: string
  /** A count of zero is shown too, so that the layout does not move when it changes; null: it is not known yet. */
  tabs: { value: T; label: ReactNode; count?: number | null | undefined; max?: number }[]
  value: T
  onChange: (value: T) => void
}) {
  const row = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const selected = row.current?.querySelector<HTMLElement>('[aria-pressed="true"]')
    // On a phone the selected tab may be outside the visible part of the row.
    if (selected) row.current?.scrollTo(selected.offsetLeft + selected.offsetWidth - row.current.clientWidth, 0)
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

/** `max` is where counting stopped; a count that reaches it is shown with a plus sign. */
export function CountBadge({ value, urgent = false, max }: { value: number | null; urgent?: boolean; max?: number }) {
  // As wide as a number, so that the layout does not move when it is known.
  if (value === null) return <span aria-hidden className="inline-block min-w-6 text-xs" />
  const colour = urgent ? 'bg-wait-soft text-wait' : 'bg-off-soft text-muted'
  return (
    <span className={`inline-block min-w-6 rounded-full px-1.5 text-center text-xs tabular-nums ${colour}`}>
      {formatNumber(value)}
      {max !== undefined && value >= max && '+'}
    </span>
  )
}
