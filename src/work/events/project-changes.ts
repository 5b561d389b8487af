import { z } from 'zod'
import type { Ctx, Tx } from '../../platform/ctx/ctx.ts'
import { CHANGE_KINDS, type ProjectChange } from '../../platform/ctx/topics.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { type SseClient, sseErrorFrame } from '../../platform/http/sse.ts'

export const ProjectChangeView = z
  .object({
    kind: z.enum(CHANGE_KINDS),
    id: z.string(),
    status: z.string(),
    at: z.string(),
  })
  .meta({ id: 'ProjectChange', description: 'A hint that a task, approval, case or thread changed its status.' })

/** Tells, after the commit, the subscribers of the project on all replicas and the counters of this one. */
export function publishProjectChange(tx: Tx, projectId: string, change: ProjectChange): void {
  publishSameStatus(tx, projectId, change)
  tx.afterCommit(() => tx.changeHints.publish({ topic: 'status-changed', projectId, change }))
}

/** Tells only the subscribers: the row changed, but its status, which is counted, did not. */
export function publishSameStatus(tx: Tx, projectId: string, change: ProjectChange): void {
  tx.publishAfterCommit({ topic: 'project-changed', id: projectId, change })
}

/** A client with more waiting changes is disconnected: after reconnecting it reloads its page, which costs less. */
const MAX_WAITING_CHANGES = 5000

/**
 * Sends changes of projects as SSE frames until the client disconnects. They are hints, not a log: a slow client gets
 * only the newest status of each resource, and is disconnected when too many of them wait.
 */
export async function followProjectChanges(ctx: Ctx, projectIds: readonly string[], client: SseClient): Promise<void> {
  const waiting = new Map<string, ProjectChange>()
  const sendWaiting = () => {
    if (client.isFull || waiting.size === 0) return
    const at = isoNow(ctx)
    client.write(
      [...waiting.values()].map((change) => `event: changed\ndata: ${JSON.stringify({ ...change, at })}\n\n`).join(''),
    )
    waiting.clear()
  }
  const onHint = ({ change }: { change: ProjectChange }) => {
    waiting.set(`${change.kind}:${change.id}`, change)
    // Sends all changes of one commit together.
    if (waiting.size === 1) setImmediate(sendWaiting)
    if (waiting.size > MAX_WAITING_CHANGES && client.isFull) {
      client.end(sseErrorFrame('stream overflow: reconnect'))
      // The client may never read the last frame, so the stream does not wait for it.
      client.onDisconnect()
    }
  }
  const unsubscribes = projectIds.map((id) => ctx.changeHints.subscribe({ topic: 'project-changed', id }, onHint))
  client.onDrain = sendWaiting
  client.write('event: ready\ndata: {}\n\n')
  await new Promise<void>((resolve) => {
    client.onDisconnect = resolve
    if (client.isDisconnected) resolve()
  })
  for (const unsubscribe of unsubscribes) unsubscribe()
}
