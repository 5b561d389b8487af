import { useSyncExternalStore } from 'react'

interface Toast {
  id: number
  /** Its place, counted from the bottom: it keeps it, whatever comes and goes meanwhile. */
  slot: number
  text: string
  isError: boolean
}

const SHOWN_MS = 5_000
const PLACES = ['bottom-4', 'bottom-22', 'bottom-40']
const listeners = new Set<() => void>()
let toasts: Toast[] = []
let next = 1

/** Says what happened, for a moment, also to who listens instead of looking. */
export function showToast(text: string, isError = false): void {
  const id = next++
  const others = toasts.slice(-(PLACES.length - 1))
  const slot = PLACES.findIndex((_, at) => others.every((one) => one.slot !== at))
  change([...others, { id, slot, text, isError }])
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

export function ToastList() {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  return (
    <div role="status" aria-live="polite">
      {shown.map(({ id, slot, text, isError }) => (
        <div
          key={id}
          className={`panel pointer-events-none fixed right-4 z-50 flex h-16 w-80 max-w-[calc(100vw-2rem)] items-center px-3 shadow-lg ${PLACES[slot]} ${isError ? 'text-bad' : ''}`}
        >
          <span className="line-clamp-3 leading-tight">{text}</span>
        </div>
      ))}
    </div>
  )
}
