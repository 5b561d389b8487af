import type { Event } from './openapi.ts'
import { encodePathPart } from './path-part.ts'
import type { Transport } from './transport.ts'

export interface FollowOptions {
  /** The number of the last event that you already have. Default: 0, which begins at the first event. */
  after?: number | undefined
  signal?: AbortSignal | undefined
}

const PAUSE_AFTER_EMPTY_STREAM_MS = 1000
const DATA = 'data: '

/**
 * The events of a task, each once and in order, until the task ends. A lost connection continues after the last event
 * that was returned. Events of a type that is newer than this client are returned too.
 */
export async function* followTask(
  transport: Transport,
  taskId: string,
  { after = 0, signal }: FollowOptions = {},
): AsyncGenerator<Event, void, undefined> {
  let last = after
  for (;;) {
    const before = last
    const stream = await transport.openEvents(`/v1/tasks/${encodePathPart('taskId', taskId)}/events`, {
      headers: { accept: 'text/event-stream', 'last-event-id': String(last) },
      signal,
      isRepeatable: true,
    })
    // The task has ended, and there are no events after the last one.
    if (!stream) return
    for await (const event of readEvents(stream, signal)) {
      if (event.id <= last) continue
      last = event.id
      yield event
      if (event.type === 'task.finished') return
    }
    // A proxy may cut silent streams at once, and must not be asked again in a tight loop.
    if (last === before) await transport.wait(PAUSE_AFTER_EMPTY_STREAM_MS, signal)
  }
}

/** The events of one stream, until it ends or is lost. Frames without a number, such as comments, are left out. */
async function* readEvents(body: ReadableStream<Uint8Array>, signal?: AbortSignal): AsyncGenerator<Event> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const part = await reader.read().catch(() => null)
      signal?.throwIfAborted()
      if (!part || part.done) return
      const frames = (rest + decoder.decode(part.value, { stream: true })).split('\n\n')
      rest = frames.pop() ?? ''
      for (const frame of frames) {
        const event = parseFrame(frame)
        if (event) yield event
      }
    }
  } finally {
    // Closes the connection if the caller stops before the end.
    await reader.cancel().catch(() => {})
  }
}

function parseFrame(frame: string): Event | null {
  // Not a regular expression with `.` or `$`: for them U+2028 and U+2029, which JSON strings may contain, end a line.
  const line = frame.split('\n').find((one) => one.startsWith(DATA))
  const event = line === undefined ? null : (JSON.parse(line.slice(DATA.length)) as Partial<Event>)
  return event && typeof event.id === 'number' ? (event as Event) : null
}
