import type { QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import * as credential from '../api/credential.ts'
import { type ChangeNotice, followChanges, type LiveState } from '../api/live-updates.ts'
import { patchTaskRow } from '../pages/tasks/patch-task-list.ts'
import { shellText } from './text.ts'

/** A page does not wait longer for the stream, because a proxy may hold it back. */
const MAX_WAIT_MS = 1_000

let current: { key: string; stop: AbortController; opened: Promise<void> } | null = null
let state: LiveState = 'connecting'
const listeners = new Set<() => void>()

/**
 * Follows the change stream of the selected project. Resolves when the stream is open, so that lists that are fetched
 * afterwards miss no change and are fetched once.
 */
export function startLiveUpdates(queries: QueryClient): Promise<void> {
  const key = `${credential.getToken()} ${credential.getProject()}`
  if (current?.key === key) return current.opened
  stopLiveUpdates()
  const stop = new AbortController()
  const opened = new Promise<void>((resolve) => {
    setTimeout(resolve, MAX_WAIT_MS)
    const onState = (to: LiveState) => {
      setState(to)
      resolve()
    }
    const onChanged = (changed: ChangeNotice) => patchTaskRow(queries, changed)
    void followChanges(queries, stop.signal, onState, onChanged)
  })
  current = { key, stop, opened }
  return opened
}

export function stopLiveUpdates(): void {
  current?.stop.abort()
  current = null
  setState('connecting')
}

function setState(to: LiveState): void {
  state = to
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useLiveState = (): LiveState => useSyncExternalStore(subscribe, () => state)

const COLOURS: Record<LiveState, string> = {
  connecting: 'bg-line-strong',
  live: 'bg-ok',
  polling: 'bg-accent',
  offline: 'bg-bad animate-breathe',
}

export function LiveIndicator() {
  const shown = useLiveState()
  return (
    <span className="flex items-center gap-1.5 text-xs text-muted" role="status">
      <span aria-hidden className={`size-2 rounded-full ${COLOURS[shown]}`} />
      {shellText.liveState[shown]}
    </span>
  )
}
