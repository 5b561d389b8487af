import { useSyncExternalStore } from 'react'

interface Toast {
  id: number
  /** The position, counted from the bottom. It stays the same while other toasts come and go. */
  slot: number
  text: string
  isError: boolean
}

const SHOWN_MS = 5_000
const SLOTS = ['bottom-4', 'bottom-22', 'bottom-40']
const listeners = new Set<() => void>()
let toasts: Toast[] = []
let next = 1

/** Shows a message for a few seconds and announces it to screen readers. */
export function showToast(text: string, isError = false): void {
  const id = next++
  const others = toasts.slice(-(SLOTS.length - 1))
  const slot = SLOTS.findIndex((_, index) => others.every((one) => one.slot !== index))
  update([...others, { id, slot, text, isError }])
  setTimeout(() => update(toasts.filter((one) => one.id !== id)), SHOWN_MS)
}

function update(to: Toast[]): void {
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
          className={`panel pointer-events-none fixed right-4 z-50 flex h-16 w-80 max-w-[calc(100vw-2rem)] items-center px-3 shadow-lg ${SLOTS[slot]} ${isError ? 'text-bad' : ''}`}
        >
          <span className="line-clamp-3 leading-tight">{text}</span>
        </div>
      ))}
    </div>
  )
}
