import { ApiError } from './request.ts'
import { sleep, readStream } from './event-stream.ts'
import type { TaskEvent } from './types.ts'

/** The growing event log of a task. `events` is a new array only when events were added. */
export interface TaskLog {
  subscribe(listener: () => void): () => void
  snapshot(): TaskLogState
  close(): void
}

export interface TaskLogState {
  events: readonly TaskEvent[]
  state: 'opening' | 'live' | 'ended' | 'lost'
}

const RETRY_MS = 1_000
/** Renders a replay of thousands of events a few times per second instead of once per event. */
const RENDER_MS = 80

/** Follows the log until `task.finished`. It reconnects after gaps and overflow frames and delivers each event once. */
export function openTaskLog(taskId: string): TaskLog {
  const stop = new AbortController()
  const listeners = new Set<() => void>()
  const arrived: TaskEvent[] = []
  let shown: TaskLogState = { events: [], state: 'opening' }
  let timer: ReturnType<typeof setTimeout> | null = null

  const show = (state: TaskLogState['state'] = shown.state) => {
    timer = null
    const events = arrived.length > 0 ? [...shown.events, ...arrived.splice(0)] : shown.events
    shown = { events, state }
    for (const listener of listeners) listener()
  }
  const add = (event: TaskEvent) => {
    arrived.push(event)
    timer ??= setTimeout(show, RENDER_MS)
  }
  void follow(taskId, stop.signal, add, show)
  return {
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    snapshot: () => shown,
    close() {
      stop.abort()
      if (timer) clearTimeout(timer)
    },
  }
}

async function follow(
  taskId: string,
  signal: AbortSignal,
  add: (event: TaskEvent) => void,
  show: (state: TaskLogState['state']) => void,
): Promise<void> {
  let last = 0
  let finished = false
  while (!signal.aborted) {
    try {
      await readStream(
        `/v1/tasks/${taskId}/events`,
        (frame) => {
          if (frame.event === 'error') return
          // By the API contract each frame carries a whole TaskEvent.
          const event = JSON.parse(frame.data) as TaskEvent
          if (event.id <= last) return
          last = event.id
          finished ||= event.type === 'task.finished'
          add(event)
        },
        { signal, lastEventId: last, onOpen: () => show('live') },
      )
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiError && error.status < 500) return show('ended')
      show('lost')
      await sleep(RETRY_MS, signal)
      continue
    }
    if (finished) return show('ended')
    await sleep(RETRY_MS / 4, signal)
  }
}
