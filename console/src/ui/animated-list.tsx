import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react'

/**
 * A list whose rows move smoothly when a row above them is added or removed. Transforms place the rows, so that nothing
 * else on the page moves.
 */
export function AnimatedList({
  label,
  gap = 0,
  className = '',
  children,
}: {
  label?: string
  gap?: number
  className?: string
  children: { key: string; row: ReactNode; className?: string }[]
}) {
  const list = useRef<HTMLUListElement>(null)
  useLayoutEffect(() => positionRows(list.current, gap))
  useEffect(() => {
    const observer = new ResizeObserver(() => positionRows(list.current, gap))
    for (const row of list.current?.children ?? []) observer.observe(row)
    return () => observer.disconnect()
  }, [children, gap])
  return (
    <ul ref={list} aria-label={label} className={`relative ${className}`}>
      {children.map(({ key, row, className = '' }) => (
        <li key={key} className={`absolute inset-x-0 top-0 ${className}`}>
          {row}
        </li>
      ))}
    </ul>
  )
}

function positionRows(list: HTMLUListElement | null, gap: number): void {
  if (!list) return
  const rows = [...list.children].filter((row) => row instanceof HTMLElement)
  const heights = rows.map((row) => row.offsetHeight)
  let top = 0
  rows.forEach((row, i) => {
    // A new row appears at its position; only rows that were visible before are animated.
    row.style.transition = row.style.transform === '' ? '' : 'transform 0.2s ease-out'
    row.style.transform = `translateY(${top}px)`
    top += (heights[i] ?? 0) + gap
  })
  list.style.height = `${Math.max(0, top - gap)}px`
}
