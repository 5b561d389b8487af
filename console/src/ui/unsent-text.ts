import { useSyncExternalStore } from 'react'
import { toText } from '../api/json.ts'
import type { Json } from '../api/types.ts'

/** What is left of a field when the text has been sent: what was typed meanwhile. */
export function withoutSent(typed: string, sent: string): string {
  const text = typed.trimStart()
  return text.startsWith(sent) ? text.slice(sent.length).trimStart() : typed
}

const listeners = new Set<() => void>()
let unsent: ReadonlyMap<string, Json> = new Map()

/** What a person enters in a form and has not sent. The tab keeps it by its key, also while the form is not on the page. */
export function useUnsent(key: string) {
  return {
    value: useSyncExternalStore(subscribe, () => unsent.get(key)),
    change: (to: Json) => keep(key, to),
    /** Call it when the text has been sent. */
    removeSent: (sent: string) => keep(key, withoutSent(toText(unsent.get(key) ?? ''), sent)),
  }
}

/** Call it at the sign-out: the next person must not read it. */
export const forgetUnsent = (): void => update(new Map())

function keep(key: string, value: Json): void {
  const others = [...unsent].filter(([name]) => name !== key)
  update(new Map(value === undefined || value === '' ? others : [...others, [key, value]]))
}

function update(to: ReadonlyMap<string, Json>): void {
  unsent = to
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
