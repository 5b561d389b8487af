import { z } from 'zod'
import type { Ctx, Tx } from '../ctx/ctx.ts'
import { CHANGE_KINDS, type ProjectChange } from '../ctx/topics.ts'
import { isoNow } from '../ctx/world.ts'
import { sseErrorFrame, type SseClient } from '../http/sse.ts'

export const ProjectChangeView = z
  .object({
    kind: z.enum(CHANGE_KINDS),
    id: z.string(),
    status: z.string(),
    at: z.string(),
  })
  .meta({ id: 'ProjectChange', description: 'A hint that a task, approval, case or thread changed its status.' })

/** Notifies, after the commit, the subscribers of the project on all replicas and the counters of this one. */
export function notifyProjectChange(tx: Tx, projectId: string, change: ProjectChange): void {
  tx.notify({ topic: 'project-changed', id: projectId, change })
  tx.afterCommit(() => tx.notifications.publish({ topic: 'status-changed', change }))
}

/** Of a reader that does not read. One that comes again reads anew what it shows, which is less than all this. */
const MAX_WAITING_CHANGES = 5000

/**
 * The changes of projects as SSE frames, from now on, until the reader is gone. A hint for screens, not a log: a slow
 * reader gets the newest status of each thing and not every one it had, and is cut off when these are too many.
 */
export async function followProjectChanges(ctx: Ctx, projectIds: readonly string[], reader: SseClient): Promise<void> {
  const waiting = new Map<string, ProjectChange>()
  const pass = () => {
    if (reader.isFull || waiting.size === 0) return
    const at = isoNow(ctx)
    reader.write(
      [...waiting.values()].map((change) => `event: changed\ndata: ${JSON.stringify({ ...change, at })}\n\n`).join(''),
    )
    waiting.clear()
  }
  const hear = ({ change }: { change: ProjectChange }) => {
    waiting.set(`${change.kind}:${change.id}`, change)
    // What one commit changed leaves together.
    if (waiting.size === 1) setImmediate(pass)
    if (waiting.size > MAX_WAITING_CHANGES && reader.isFull) {
      reader.end(sseErrorFrame('stream overflow: reconnect'))
      // The last frame may never be read: nobody waits for it.
      reader.onDisconnect()
    }
  }
  const unhear = projectIds.map((id) => ctx.notifications.subscribe({ topic: 'project-changed', id }, hear))
  reader.onDrain = pass
  reader.write('event: ready\ndata: {}\n\n')
  await new Promise<void>((resolve) => {
    reader.onDisconnect = resolve
    if (reader.isDisconnected) resolve()
  })
  for (const stop of unhear) stop()
}
