import { setTimeout as pause } from 'node:timers/promises'
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
  /** As it came, for scripts. */
  source: JsonObject
}

const MAX_ATTEMPTS = 10
const MAX_RETRY_DELAY_MS = 5_000

/** Every event of a task once and in order, until it is finished; a lost connection is taken up where it broke. */
export async function* followTask(
  service: ServiceClient,
  taskId: string,
  { after = 0, onLost }: { after?: number; onLost?: () => void } = {},
): AsyncGenerator<FollowedEvent> {
  let last = after
  let tries = 0
  while (tries < MAX_ATTEMPTS) {
    try {
      for await (const event of streamEvents(service, taskId, last)) {
        if (event.id <= last) continue
        last = event.id
        tries = 0
        yield event
        if (event.type === 'task.finished') return
      }
      // A stream that ends by itself has told everything, when the task is over.
      if (await isFinished(service, taskId, last)) return
    } catch (error) {
      if (error instanceof CommandFailure && error.exit !== EXIT_CODE.unreachable) throw error
      if (tries === 0) onLost?.()
    }
    await pause(Math.min(MAX_RETRY_DELAY_MS, 100 * 2 ** tries++))
  }
  throw new CommandFailure(
    EXIT_CODE.unreachable,
    'the connection was lost again and again',
    (svc) => `take it up with: ${svc} tail ${taskId}`,
  )
}

async function isFinished(service: ServiceClient, taskId: string, last: number): Promise<boolean> {
  const task = await service.call('GET', `/v1/tasks/${encodeURIComponent(taskId)}`)
  return task.finished_at !== null && Number(task.last_event_id) <= last
}

async function* streamEvents(service: ServiceClient, taskId: string, last: number): AsyncGenerator<FollowedEvent> {
  const gone = new AbortController()
  const headers = { accept: 'text/event-stream', ...(last > 0 && { 'last-event-id': String(last) }) }
  try {
    const { body } = await service.open(`/v1/tasks/${encodeURIComponent(taskId)}/events`, headers, gone.signal)
    if (!body) return
    const decoder = new TextDecoder()
    const events: FollowedEvent[] = []
    const parse = createEventStreamParser((data) => events.push(...parseEvent(data)))
    for await (const chunk of body) {
      parse(decoder.decode(chunk, { stream: true }))
      yield* events.splice(0)
    }
  } finally {
    gone.abort()
  }
}

/** Empty for data that is not a task event, such as the overflow notice: reading continues after it. */
function parseEvent(data: string): FollowedEvent[] {
  const source: unknown = JSON.parse(data)
  if (!isJsonObject(source) || typeof source.id !== 'number' || typeof source.type !== 'string') return []
  const { id, type, ts, data: fields } = source
  return [{ id, type, ts: toText(ts), data: isJsonObject(fields) ? fields : {}, source }]
}
