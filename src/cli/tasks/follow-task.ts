import { setTimeout as sleep } from 'node:timers/promises'
import { createEventStreamParser } from '../../base/event-stream.ts'
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { EXIT_CODE, CommandFailure } from '../shell/failure.ts'
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

const MAX_ATTEMPTS = 10
const MAX_RETRY_DELAY_MS = 5_000

/** Yields every event of a task once and in order until the task finishes. Reconnects after the last event. */
export async function* followTask(
  service: ServiceClient,
  taskId: string,
  { after = 0, onLost }: { after?: number; onLost?: () => void } = {},
): AsyncGenerator<FollowedEvent> {
  let last = after
  let attempts = 0
  while (attempts < MAX_ATTEMPTS) {
    try {
      for await (const event of streamEvents(service, taskId, last)) {
        if (event.id <= last) continue
        last = event.id
        attempts = 0
        yield event
        if (event.type === 'task.finished') return
      }
      // The server also closes the stream when it stops, so check whether this was the end of the log.
      if (await isFinished(service, taskId, last)) return
    } catch (error) {
      if (error instanceof CommandFailure && error.exit !== EXIT_CODE.unreachable) throw error
      if (attempts === 0) onLost?.()
    }
    await sleep(Math.min(MAX_RETRY_DELAY_MS, 100 * 2 ** attempts++))
  }
  throw new CommandFailure(
    EXIT_CODE.unreachable,
    `the connection failed ${MAX_ATTEMPTS} times in a row`,
    (svc) => `continue with: ${svc} tail ${taskId}`,
  )
}

async function isFinished(service: ServiceClient, taskId: string, last: number): Promise<boolean> {
  const task = await service.call('GET', `/v1/tasks/${encodeURIComponent(taskId)}`)
  return task.finished_at !== null && Number(task.last_event_id) <= last
}

async function* streamEvents(service: ServiceClient, taskId: string, last: number): AsyncGenerator<FollowedEvent> {
  const abort = new AbortController()
  const headers = { accept: 'text/event-stream', ...(last > 0 && { 'last-event-id': String(last) }) }
  try {
    const { body } = await service.open(`/v1/tasks/${encodeURIComponent(taskId)}/events`, headers, abort.signal)
    if (!body) return
    const received: FollowedEvent[] = []
    const parse = createEventStreamParser((data) => received.push(...parseEvent(data)))
    const decoder = new TextDecoder()
    for await (const chunk of body) {
      parse(decoder.decode(chunk, { stream: true }))
      yield* received.splice(0)
    }
  } finally {
    abort.abort()
  }
}

/** Returns no event for the overflow and pruned-log frames, which have no id; the log continues after them. */
function parseEvent(json: string): FollowedEvent[] {
  const source: unknown = JSON.parse(json)
  if (!isJsonObject(source) || typeof source.id !== 'number' || typeof source.type !== 'string') return []
  const { id, type, ts, data } = source
  return [{ id, type, ts: toText(ts), data: isJsonObject(data) ? data : {}, source }]
}
