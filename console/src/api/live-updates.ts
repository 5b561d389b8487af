import type { QueryClient } from '@tanstack/react-query'
import { ApiError } from './http.ts'
import { sleep, readStream } from './event-stream.ts'

/** A line of the project's stream: something changed, read it again if you show it. */
export interface ChangeNotice {
  kind: 'task' | 'approval' | 'case' | 'thread'
  id: string
  status: string
}

export type LiveState = 'connecting' | 'live' | 'polling' | 'offline'

const POLL_MS = 5_000
const BATCH_MS = 120

/**
 * The one live connection of the console. Changes are gathered for a moment and then make the queries of their kind
 * invalidates; what nobody looks at is not fetched. There is no replay, so each (re)connection makes everything invalidates, and
 * so does every few seconds without one, whether it was refused or is held back on the way.
 */
export async function followChanges(
  queries: QueryClient,
  signal: AbortSignal,
  onState: (state: LiveState) => void,
  onChanged: (changed: ChangeNotice) => void,
): Promise<void> {
  const invalidates = createBatcher((kinds) => kinds.forEach((kind) => invalidateKind(queries, kind)))
  let open = false
  const look = () => !document.hidden && invalidates.all()
  const poll = setInterval(() => !open && look(), POLL_MS)
  // A machine that slept may hold a connection that is dead without knowing.
  document.addEventListener('visibilitychange', look)
  signal.addEventListener('abort', () => {
    clearInterval(poll)
    document.removeEventListener('visibilitychange', look)
  })
  for (let failures = 0; !signal.aborted; ) {
    try {
      await readStream('/v1/stream', ({ event, data }) => event === 'changed' && note(data), {
        signal,
        onOpen() {
          failures = 0
          open = true
          onState('live')
          invalidates.all()
        },
      })
    } catch (error) {
      if (signal.aborted) return
      failures++
      // Who answers at all is there, only its stream is not.
      onState(error instanceof ApiError ? 'polling' : 'offline')
    }
    open = false
    await sleep(Math.min(250 * 2 ** failures, 10_000), signal)
  }

  function note(data: string): void {
    const changed = parseChangeNotice(data)
    if (!changed) return
    onChanged(changed)
    // Threads are kept among the tasks: most of what is said there comes with one.
    invalidates.one(changed.kind === 'thread' ? 'task' : changed.kind)
  }
}

const KINDS: ChangeNotice['kind'][] = ['task', 'approval', 'case', 'thread']

/** Query keys begin with the plural of what they show; `work` marks what depends on tasks and approvals alike. */
function invalidateKind(queries: QueryClient, kind: ChangeNotice['kind']): void {
  void queries.invalidateQueries({ queryKey: [`${kind}s`] })
  if (kind !== 'case') void queries.invalidateQueries({ queryKey: ['work'] })
}

function createBatcher(flush: (kinds: Set<ChangeNotice['kind']>) => void) {
  let kinds = new Set<ChangeNotice['kind']>()
  let timer: ReturnType<typeof setTimeout> | null = null
  const later = () => {
    timer ??= setTimeout(() => {
      const gathered = kinds
      kinds = new Set()
      timer = null
      flush(gathered)
    }, BATCH_MS)
  }
  return {
    one: (kind: ChangeNotice['kind']) => (kinds.add(kind), later()),
    all: () => (KINDS.forEach((kind) => kinds.add(kind)), later()),
  }
}

function parseChangeNotice(data: string): ChangeNotice | null {
  const value: unknown = JSON.parse(data)
  if (typeof value !== 'object' || value === null || !('kind' in value) || !('id' in value)) return null
  const kind = KINDS.find((one) => one === value.kind)
  return kind ? { kind, id: String(value.id), status: 'status' in value ? String(value.status) : '' } : null
}
