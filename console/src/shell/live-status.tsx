import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import { type ChangeNotice, followChanges, type LiveState } from '../api/live-updates.ts'
import { patchTaskRow } from '../pages/tasks/patch-task-list.ts'
import { shellText } from './text.ts'

const LiveStateContext = createContext<LiveState>('connecting')

const useLiveState = (): LiveState => useContext(LiveStateContext)

/** Follows the change stream of the project while a member is signed in. */
export function LiveUpdates({ children }: { children: ReactNode }) {
  const queries = useQueryClient()
  const [state, setState] = useState<LiveState>('connecting')
  useEffect(() => {
    const stop = new AbortController()
    const onChanged = (changed: ChangeNotice) => patchTaskRow(queries, changed)
    void followChanges(queries, stop.signal, setState, onChanged)
    return () => stop.abort()
  }, [queries])
  return <LiveStateContext value={state}>{children}</LiveStateContext>
}

const COLOURS: Record<LiveState, string> = {
  connecting: 'bg-line-strong',
  live: 'bg-ok',
  polling: 'bg-accent',
  offline: 'bg-bad animate-breathe',
}

export function LiveIndicator() {
  const state = useLiveState()
  return (
    <span className="flex items-center gap-1.5 text-xs text-muted" role="status">
      <span aria-hidden className={`size-2 rounded-full ${COLOURS[state]}`} />
      {shellText.liveState[state]}
    </span>
  )
}
