import { useSyncExternalStore } from 'react'

interface Toast {
  id: number
  /** Its place, counted from the bottom: it keeps it, whatever comes and goes meanwhile. */
  place: number
  text: string
  bad: boolean
}

const SHOWN_MS = 5_000
const PLACES = ['bottom-4', 'bottom-22', 'bottom-40']
const listeners = new Set<() => void>()
let toasts: Toast[] = []
let next = 1

/** Says what happened, for a moment, also to who listens instead of looking. */
export function toast(text: string, bad = false): void {
  const id = next++
  const others = toasts.slice(-(PLACES.length - 1))
  const place = PLACES.findIndex((_, at) => others.every((one) => one.place !== at))
  change([...others, { id, place, text, bad }])
  setTimeout(() => change(toasts.filter((one) => one.id !== id)), SHOWN_MS)
}

function change(to: Toast[]): void {
  toasts = to
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  return (
    <div role="status" aria-live="polite">
      {shown.map(({ id, place, text, bad }) => (
        <div
          key={id}
          className={`panel pointer-events-none fixed right-4 z-50 flex h-16 w-80 max-w-[calc(100vw-2rem)] items-center px-3 shadow-lg ${PLACES[place]} ${bad ? 'text-bad' : ''}`}
        >
          <span className="line-clamp-3 leading-tight">{text}</span>
        </div>
      ))}
    </div>
  )
}
