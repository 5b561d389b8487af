import { setTimeout as pause } from 'node:timers/promises'
import { isJsonObject, type JsonObject } from '../base/json.ts'
import { EXIT, Failure } from './failure.ts'
import type { Service } from './service.ts'
import { textOf } from './table.ts'

export interface TaskEvent {
  id: number
  type: string
  ts: string
  data: JsonObject
  /** As it came, for scripts. */
  source: JsonObject
}

const TRIES = 10
const LONGEST_PAUSE_MS = 5_000

/** Every event of a task once and in order, until it is finished; a lost connection is taken up where it broke. */
export async function* follow(
  service: Service,
  taskId: string,
  { after = 0, onLost }: { after?: number; onLost?: () => void } = {},
): AsyncGenerator<TaskEvent> {
  let last = after
  let tries = 0
  while (tries < TRIES) {
    try {
      for await (const event of eventsAfter(service, taskId, last)) {
        if (event.id <= last) continue
        last = event.id
        tries = 0
        yield event
        if (event.type === 'task.finished') return
      }
      // A stream that ends by itself has told everything, when the task is over.
      if (await isOver(service, taskId, last)) return
    } catch (error) {
      if (error instanceof Failure && error.exit !== EXIT.unreachable) throw error
      if (tries === 0) onLost?.()
    }
    await pause(Math.min(LONGEST_PAUSE_MS, 100 * 2 ** tries++))
  }
  throw new Failure(
    EXIT.unreachable,
    'the connection was lost again and again',
    (svc) => `take it up with: ${svc} tail ${taskId}`,
  )
}

async function isOver(service: Service, taskId: string, last: number): Promise<boolean> {
  const task = await service.call('GET', `/v1/tasks/${encodeURIComponent(taskId)}`)
  return task.finished_at !== null && Number(task.last_event_id) <= last
}

async function* eventsAfter(service: Service, taskId: string, last: number): AsyncGenerator<TaskEvent> {
  const gone = new AbortController()
  const headers = { accept: 'text/event-stream', ...(last > 0 && { 'last-event-id': String(last) }) }
  try {
    const { body } = await service.open(`/v1/tasks/${encodeURIComponent(taskId)}/events`, headers, gone.signal)
    if (!body) return
    const decoder = new TextDecoder()
    let rest = ''
    for await (const piece of body) {
      const frames = (rest + decoder.decode(piece, { stream: true })).split(/\r?\n\r?\n/)
      rest = frames.pop() ?? ''
      for (const event of frames.flatMap(eventOf)) yield event
    }
  } finally {
    gone.abort()
  }
}

/** Comments and the overflow frame are no events: after either the log is simply read on. */
function eventOf(frame: string): TaskEvent[] {
  const data = frame
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).replace(/^ /, ''))
    .join('\n')
  const source: unknown = data === '' ? null : JSON.parse(data)
  if (!isJsonObject(source) || typeof source.id !== 'number' || typeof source.type !== 'string') return []
  const { id, type, ts, data: fields } = source
  return [{ id, type, ts: textOf(ts), data: isJsonObject(fields) ? fields : {}, source }]
}
