import { z } from 'zod'
import type { Ctx, Tx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import { sseErrorFrame, type SseClient } from '../http/sse.ts'

const CHANGE_KINDS = ['task', 'approval', 'case', 'thread'] as const

/** A task, approval, case or thread of the project has this status now. */
export interface ProjectChange {
  kind: (typeof CHANGE_KINDS)[number]
  id: string
  status: string
}

export const ProjectChangeView = z
  .object({
    kind: z.enum(CHANGE_KINDS),
    id: z.string(),
    status: z.string(),
    at: z.string(),
  })
  .meta({ id: 'ProjectChange', description: 'A hint that a task, approval, case or thread changed its status.' })

/** Tells, after the commit, everyone who watches the project. What is told travels in the bell's topic. */
export function notifyProjectChange(tx: Tx, projectId: string, { kind, id, status }: ProjectChange): void {
  tx.notify(`project:${projectId}?${kind}:${id}:${status}`)
  tx.afterCommit(() => tx.notifications.publish(`moved?${kind}:${id}:${status}`))
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
  const hear = (topic: string) => {
    const change = parseProjectChange(topic)
    if (!change) return
    waiting.set(`${change.kind}:${change.id}`, change)
    // What one commit changed leaves together.
    if (waiting.size === 1) setImmediate(pass)
    if (waiting.size > MAX_WAITING_CHANGES && reader.isFull) {
      reader.end(sseErrorFrame('stream overflow: reconnect'))
      // The last frame may never be read: nobody waits for it.
      reader.onDisconnect()
    }
  }
  const unhear = projectIds.map((id) => ctx.notifications.subscribe(`project:${id}`, hear))
  reader.onDrain = pass
  reader.write('event: ready\ndata: {}\n\n')
  await new Promise<void>((resolve) => {
    reader.onDisconnect = resolve
    if (reader.isDisconnected) resolve()
  })
  for (const stop of unhear) stop()
}

export function parseProjectChange(topic: string): ProjectChange | null {
  const [named, id, status] = (topic.split('?')[1] ?? '').split(':')
  const kind = CHANGE_KINDS.find((one) => one === named)
  return kind && id && status ? { kind, id, status } : null
}
