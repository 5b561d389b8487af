import { isJsonObject, type JsonObject } from '../../../platform/base/json.ts'
import { readEventObjects, Reconnection } from '../shell/event-objects.ts'
import type { ServiceClient } from '../shell/service-client.ts'
import { toText } from '../shell/format.ts'

export interface FollowedEvent {
  id: number
  type: string
  ts: string
  data: JsonObject
  /** The whole event as it was received, for `--json`. */
  source: JsonObject
}

/** Yields every event of a task once and in order until the task finishes. Reconnects after the last event. */
export async function* followTask(
  service: ServiceClient,
  taskId: string,
  { after = 0, onLost }: { after?: number; onLost?: () => void } = {},
): AsyncGenerator<FollowedEvent> {
  let last = after
  const connection = new Reconnection(onLost, (svc) => `continue with: ${svc} tail ${taskId}`)
  for (;;) {
    try {
      for await (const event of streamEvents(service, taskId, last)) {
        if (event.id <= last) continue
        last = event.id
        connection.succeeded()
        yield event
        if (event.type === 'task.finished') return
      }
      // The server also closes the stream when it stops, so check whether this was the end of the log.
      if (await isFinished(service, taskId, last)) return
    } catch (error) {
      connection.failed(error)
    }
    await connection.wait()
  }
}

async function isFinished(service: ServiceClient, taskId: string, last: number): Promise<boolean> {
  const task = await service.call('GET', `/v1/tasks/${encodeURIComponent(taskId)}`)
  return task.finished_at !== null && Number(task.last_event_id) <= last
}

async function* streamEvents(service: ServiceClient, taskId: string, last: number): AsyncGenerator<FollowedEvent> {
  const path = `/v1/tasks/${encodeURIComponent(taskId)}/events`
  const headers: Record<string, string> = last > 0 ? { 'last-event-id': String(last) } : {}
  for await (const source of readEventObjects(service, path, headers)) {
    const { id, type, ts, data } = source
    // The overflow and pruned-log frames have no id; the log continues after them.
    if (typeof id !== 'number' || typeof type !== 'string') continue
    yield { id, type, ts: toText(ts), data: isJsonObject(data) ? data : {}, source }
  }
}
