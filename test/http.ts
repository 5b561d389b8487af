/** A response of the service. */
export interface ApiResponse {
  status: number
  // Tests assert the content of bodies instead of typing it.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
  headers: Headers
}

export interface CallOptions {
  /** Replaces the credential; null sends none. */
  key?: string | null
  headers?: Record<string, string>
  /** A body that is sent unchanged. */
  raw?: string | Uint8Array<ArrayBuffer>
}

export async function callApi(
  url: string,
  key: string,
  method: string,
  path: string,
  body?: unknown,
  options: CallOptions = {},
): Promise<ApiResponse> {
  const credential = options.key === undefined ? key : options.key
  const content = options.raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(credential && { authorization: `Bearer ${credential}` }),
      ...(content !== undefined && { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(content !== undefined && { body: content }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: parseJsonOrText(text) }
}

function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export interface StreamedEvent {
  /** The name and the id of the SSE frame; `data` is the whole event. */
  event: string
  id: string
  // oxlint-disable-next-line typescript/no-explicit-any
  data: any
}

/** Reads an SSE stream until the server ends it, or until `until` returns true for an event. */
export async function readEventStream(
  url: string,
  key: string,
  after: number,
  until?: (event: StreamedEvent) => boolean,
): Promise<StreamedEvent[]> {
  const headers = { authorization: `Bearer ${key}`, ...(after > 0 && { 'last-event-id': String(after) }) }
  const response = await fetch(url, { headers })
  if (response.status !== 200 || !response.body)
    throw new Error(`no stream: ${response.status} ${await response.text()}`)
  const events: StreamedEvent[] = []
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body) {
    const frames = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const event = parseFrame(frame)
      if (!event) continue
      events.push(event)
      // Returning from the loop closes the connection.
      if (until?.(event)) return events
    }
  }
  return events
}

/** Null for a comment, such as a keepalive. */
function parseFrame(frame: string): StreamedEvent | null {
  const field = (name: string) =>
    frame
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2) ?? ''
  return field('data') ? { event: field('event'), id: field('id'), data: JSON.parse(field('data')) } : null
}
