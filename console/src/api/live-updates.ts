import type { QueryClient } from '@tanstack/react-query'
import { markDataFresh } from './http.ts'
import { isServiceReachable } from './service-reachable.ts'
import { sleep, readStream } from './event-stream.ts'

/** A notice of the change stream: this item changed, so its queries are stale. */
export interface ChangeNotice {
  kind: 'task' | 'approval' | 'case' | 'thread'
  id: string
  status: string
}

export type LiveState = 'connecting' | 'live' | 'polling' | 'offline'

const POLL_MS = 5_000
const BATCH_MS = 120

/**
 * Follows the change stream of the project. Notices are batched, then invalidate the queries of their kind; only queries
 * that are on screen are fetched again. The stream has no replay, so each connection invalidates what was fetched before
 * it, and a poll invalidates everything every 5 s while there is no connection.
 */
export async function followChanges(
  queries: QueryClient,
  signal: AbortSignal,
  onState: (state: LiveState) => void,
  onChanged: (changed: ChangeNotice) => void,
): Promise<void> {
  const batcher = createBatcher((kinds) => kinds.forEach((kind) => invalidateKind(queries, kind)))
  let open = false
  const refreshAll = () => !document.hidden && batcher.addAll()
  const poll = setInterval(() => !open && refreshAll(), POLL_MS)
  // After the computer slept, the connection may be dead although no error was reported.
  document.addEventListener('visibilitychange', refreshAll)
  signal.addEventListener('abort', () => {
    clearInterval(poll)
    document.removeEventListener('visibilitychange', refreshAll)
  })
  let wasAway = false
  for (let failures = 0; !signal.aborted; ) {
    try {
      await readStream('/v1/stream', ({ event, data }) => event === 'changed' && onNotice(data), {
        signal,
        onOpen() {
          failures = 0
          open = true
          onState('live')
          // Every query may have failed while the service was away.
          if (wasAway) void queries.invalidateQueries()
          else KINDS.forEach((kind) => invalidateKind(queries, kind))
          wasAway = false
        },
      })
    } catch {
      if (signal.aborted) return
      failures++
      // A proxy may refuse the stream although the service is reachable.
      wasAway = !(await isServiceReachable(signal))
      onState(wasAway ? 'offline' : 'polling')
    }
    if (open) markDataFresh()
    open = false
    await sleep(Math.min(250 * 2 ** failures, 10_000), signal)
  }

  function onNotice(data: string): void {
    const changed = parseChangeNotice(data)
    if (!changed) return
    onChanged(changed)
    // Queries of threads use the key of tasks, because most messages come with a task.
    batcher.add(changed.kind === 'thread' ? 'task' : changed.kind)
  }
}

const KINDS: ChangeNotice['kind'][] = ['task', 'approval', 'case', 'thread']

/** Query keys begin with the plural of the kind; `work` marks queries that depend on both tasks and approvals. */
function invalidateKind(queries: QueryClient, kind: ChangeNotice['kind']): void {
  void queries.invalidateQueries({ queryKey: [`${kind}s`] })
  if (kind !== 'case') void queries.invalidateQueries({ queryKey: ['work'] })
}

function createBatcher(flush: (kinds: Set<ChangeNotice['kind']>) => void) {
  let kinds = new Set<ChangeNotice['kind']>()
  let timer: ReturnType<typeof setTimeout> | null = null
  const schedule = () => {
    timer ??= setTimeout(() => {
      const batch = kinds
      kinds = new Set()
      timer = null
      flush(batch)
    }, BATCH_MS)
  }
  return {
    add: (kind: ChangeNotice['kind']) => (kinds.add(kind), schedule()),
    addAll: () => (KINDS.forEach((kind) => kinds.add(kind)), schedule()),
  }
}

function parseChangeNotice(data: string): ChangeNotice | null {
  const value: unknown = JSON.parse(data)
  if (typeof value !== 'object' || value === null || !('kind' in value) || !('id' in value)) return null
  const kind = KINDS.find((one) => one === value.kind)
  return kind ? { kind, id: String(value.id), status: 'status' in value ? String(value.status) : '' } : null
}
