import type { Ctx, Tx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import { errorFrame, type Reader } from '../http/sse.ts'

const KINDS = ['task', 'approval', 'case', 'thread'] as const

/** Something of a project that a person may be looking at, and the status that it has now. */
export interface Change {
  kind: (typeof KINDS)[number]
  id: string
  status: string
}

/** Tells, after the commit, everyone who watches the project. What is told travels in the bell's topic. */
export function changed(tx: Tx, projectId: string, { kind, id, status }: Change): void {
  tx.ring(`project:${projectId}?${kind}:${id}:${status}`)
  tx.afterCommit(() => tx.bells.ring(`moved?${kind}:${id}:${status}`))
}

/** Of a reader that does not read. One that comes again reads anew what it shows, which is less than all this. */
const MOST_WAITING = 5000

/**
 * The changes of projects as SSE frames, from now on, until the reader is gone. A hint for screens, not a log: a slow
 * reader gets the newest status of each thing and not every one it had, and is cut off when these are too many.
 */
export async function followProjects(ctx: Ctx, projectIds: readonly string[], reader: Reader): Promise<void> {
  const waiting = new Map<string, Change>()
  const pass = () => {
    if (reader.isFull || waiting.size === 0) return
    const at = isoNow(ctx)
    reader.write(
      [...waiting.values()].map((change) => `event: changed\ndata: ${JSON.stringify({ ...change, at })}\n\n`).join(''),
    )
    waiting.clear()
  }
  const hear = (topic: string) => {
    const change = changeIn(topic)
    if (!change) return
    waiting.set(`${change.kind}:${change.id}`, change)
    // What one commit changed leaves together.
    if (waiting.size === 1) setImmediate(pass)
    if (waiting.size > MOST_WAITING && reader.isFull) {
      reader.end(errorFrame('stream overflow: reconnect'))
      // The last frame may never be read: nobody waits for it.
      reader.onGone()
    }
  }
  const unhear = projectIds.map((id) => ctx.bells.on(`project:${id}`, hear))
  reader.onRoom = pass
  reader.write('event: ready\ndata: {}\n\n')
  await new Promise<void>((resolve) => {
    reader.onGone = resolve
    if (reader.isGone) resolve()
  })
  for (const stop of unhear) stop()
}

export function changeIn(topic: string): Change | null {
  const [named, id, status] = (topic.split('?')[1] ?? '').split(':')
  const kind = KINDS.find((one) => one === named)
  return kind && id && status ? { kind, id, status } : null
}
