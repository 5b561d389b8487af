import { useSyncExternalStore } from 'react'

/** How the member was signed in when the server refused the credential; null while the session lasts. */
export interface SessionEnd {
  staySignedIn: boolean
}

let end: SessionEnd | null = null
const listeners = new Set<() => void>()

/** The shell asks to sign in again over the open page, which keeps what was typed. */
export function setSessionEnd(to: SessionEnd | null): void {
  end = to
  for (const listener of listeners) listener()
}

export const getSessionEnd = (): SessionEnd | null => end

export const useSessionEnd = (): SessionEnd | null =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, getSessionEnd)
