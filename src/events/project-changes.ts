import { z } from 'zod'
import type { Ctx, Tx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import { type SseClient, sseErrorFrame } from '../http/sse.ts'

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

/** Notifies the followers of the project after the commit. The topic contains the change. */
export function notifyProjectChange(tx: Tx, projectId: string, { kind, id, status }: ProjectChange): void {
  tx.notify(`project:${projectId}?${kind}:${id}:${status}`)
  tx.afterCommit(() => tx.notifications.publish(`moved?${kind}:${id}:${status}`))
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
  const onNotification = (topic: string) => {
    const change = parseProjectChange(topic)
    if (!change) return
    waiting.set(`${change.kind}:${change.id}`, change)
    // Sends all changes of one commit together.
    if (waiting.size === 1) setImmediate(sendWaiting)
    if (waiting.size > MAX_WAITING_CHANGES && client.isFull) {
      client.end(sseErrorFrame('stream overflow: reconnect'))
      // The client may never read the last frame, so the stream does not wait for it.
      client.onDisconnect()
    }
  }
  const unsubscribes = projectIds.map((id) => ctx.notifications.subscribe(`project:${id}`, onNotification))
  client.onDrain = sendWaiting
  client.write('event: ready\ndata: {}\n\n')
  await new Promise<void>((resolve) => {
    client.onDisconnect = resolve
    if (client.isDisconnected) resolve()
  })
  for (const unsubscribe of unsubscribes) unsubscribe()
}

export function parseProjectChange(topic: string): ProjectChange | null {
  const [kindText, id, status] = (topic.split('?')[1] ?? '').split(':')
  const kind = CHANGE_KINDS.find((one) => one === kindText)
  return kind && id && status ? { kind, id, status } : null
}
