import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react'

/**
 * Rows that stand one under the other and glide to their new place when one comes or goes above them, instead of
 * jumping under the reader. They are placed by transforms, which move nothing else on the page.
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
  children: { key: string; row: ReactNode; look?: string }[]
}) {
  const list = useRef<HTMLUListElement>(null)
  useLayoutEffect(() => positionRows(list.current, gap))
  useEffect(() => {
    const watch = new ResizeObserver(() => positionRows(list.current, gap))
    for (const row of list.current?.children ?? []) watch.observe(row)
    return () => watch.disconnect()
  }, [children, gap])
  return (
    <ul ref={list} aria-label={label} className={`relative ${className}`}>
      {children.map(({ key, row, look = '' }) => (
        <li key={key} className={`absolute inset-x-0 top-0 ${look}`}>
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
    // A new row is put where it belongs at once; only one that was seen before glides.
    row.style.transition = row.style.transform === '' ? '' : 'transform 0.2s ease-out'
    row.style.transform = `translateY(${top}px)`
    top += (heights[i] ?? 0) + gap
  })
  list.style.height = `${Math.max(0, top - gap)}px`
}
