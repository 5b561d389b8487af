import type { Ctx, Tx } from '../ctx/ctx.ts'
import { isoTime } from '../ctx/world.ts'

/** Something of a project that a person may be looking at, and the status that it has now. */
export interface Change {
  kind: 'task' | 'approval' | 'case'
  id: string
  status: string
}

/** Tells, after the commit, everyone who watches the project. What is told travels in the bell's topic. */
export function changed(tx: Tx, projectId: string, { kind, id, status }: Change): void {
  tx.ring(`project:${projectId}?${kind}:${id}:${status}`)
  tx.afterCommit(() => tx.bells.ring(`moved?${kind}:${id}:${status}`))
}

/**
 * The changes of projects as SSE frames, from now on. A hint for screens, not a log: a slow reader gets the newest
 * status of each thing and not every one it had.
 */
export async function* followProjects(
  ctx: Ctx,
  projectIds: readonly string[],
  gone: AbortSignal,
): AsyncGenerator<string> {
  const waiting = new Map<string, Change>()
  const bell = new EventTarget()
  const hear = (topic: string) => {
    const change = changeIn(topic)
    if (change) waiting.set(`${change.kind}:${change.id}`, change)
    bell.dispatchEvent(new Event('ring'))
  }
  const unhear = projectIds.map((id) => ctx.bells.on(`project:${id}`, hear))
  try {
    yield 'event: ready\ndata: {}\n\n'
    while (!gone.aborted) {
      if (waiting.size === 0) await rung(bell, gone)
      const changes = [...waiting.values()]
      waiting.clear()
      const at = isoTime(ctx.world.clock.now())
      yield changes.map((change) => `event: changed\ndata: ${JSON.stringify({ ...change, at })}\n\n`).join('')
    }
  } finally {
    for (const stop of unhear) stop()
  }
}

export function changeIn(topic: string): Change | null {
  const [kind, id, status] = (topic.split('?')[1] ?? '').split(':')
  if ((kind !== 'task' && kind !== 'approval' && kind !== 'case') || !id || !status) return null
  return { kind, id, status }
}

function rung(bell: EventTarget, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      gone.removeEventListener('abort', done)
      resolve()
    }
    bell.addEventListener('ring', done, { once: true })
    gone.addEventListener('abort', done, { once: true })
  })
}
