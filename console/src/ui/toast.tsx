import { useSyncExternalStore } from 'react'

interface Toast {
  id: number
  text: string
  bad: boolean
}

const SHOWN_MS = 5_000
const listeners = new Set<() => void>()
let toasts: Toast[] = []
let next = 1

/** Says what happened, for a moment, also to who listens instead of looking. */
export function toast(text: string, bad = false): void {
  const id = next++
  change([...toasts.slice(-2), { id, text, bad }])
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
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed right-4 bottom-4 z-50 flex flex-col gap-2"
    >
      {shown.map(({ id, text, bad }) => (
        <div key={id} className={`panel px-3 py-2 shadow-lg ${bad ? 'text-bad' : ''}`}>
          {text}
        </div>
      ))}
    </div>
  )
}
