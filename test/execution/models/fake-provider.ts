import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Json, JsonObject } from '../../../src/platform/base/json.ts'

type SeenRequest = { path: string; headers: http.IncomingHttpHeaders; body: JsonObject; closed: Promise<void> }
/** `chunks` are sent as an event stream; `ending` says whether it then ends, is cut off or stays open. */
export type ProviderReply = {
  status?: number
  headers?: Record<string, string>
  json?: Json
  chunks?: (string | Buffer)[]
  ending?: 'end' | 'cut' | 'stay'
  /** Closes the connection without a response. */
  drop?: boolean
}
/** A reply that depends on the request. */
type RepliesTo = (request: Pick<SeenRequest, 'path' | 'body'>) => ProviderReply
export interface FakeProvider {
  url: string
  seen: SeenRequest[]
  /** The number of connections to the provider. */
  sockets: () => number
  /** The number of chunks that the client has received. */
  written: () => number
  close: () => Promise<void>
}

/** A model provider on the loopback interface. It sends one reply after the other and repeats the last one. */
export async function startFakeProvider(...replies: (ProviderReply | RepliesTo)[]): Promise<FakeProvider> {
  const seen: SeenRequest[] = []
  const counts = { sockets: 0, written: 0 }
  const server = http.createServer((request, response) => {
    const closed = new Promise<void>((resolve) => response.once('close', resolve))
    void readBody(request).then((body) => {
      const reply = replies[Math.min(seen.length, replies.length - 1)] ?? {}
      const received = { path: request.url ?? '', headers: request.headers, body, closed }
      seen.push(received)
      return sendReply(response, typeof reply === 'function' ? reply(received) : reply, () => counts.written++)
    })
  })
  server.on('connection', () => counts.sockets++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${port}`, seen, sockets: () => counts.sockets, written: () => counts.written, close }
}

/** A fake provider that is closed when the test ends. */
export async function fakeProvider(...replies: (ProviderReply | RepliesTo)[]): Promise<FakeProvider> {
  const provider = await startFakeProvider(...replies)
  onTestFinished(() => provider.close())
  return provider
}

async function readBody(request: http.IncomingMessage): Promise<JsonObject> {
  let text = ''
  request.setEncoding('utf8')
  for await (const chunk of request) text += chunk
  return JSON.parse(text)
}

async function sendReply(response: http.ServerResponse, reply: ProviderReply, onWritten: () => void): Promise<void> {
  const { status = 200, headers, json, chunks, ending = 'end', drop } = reply
  if (drop) return void response.destroy()
  if (!chunks) {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(json ?? {}))
    return
  }
  response.writeHead(status, { 'content-type': 'text/event-stream', ...headers })
  response.flushHeaders()
  for (const chunk of chunks) {
    if (response.destroyed) return
    await new Promise((resolve) => response.write(chunk, resolve))
    onWritten()
    await new Promise(setImmediate)
  }
  if (ending === 'cut') response.destroy()
  if (ending === 'end') response.end()
}

export type ScriptedTurn = { text?: string; call?: { name: string; input: Json }; stop?: string }

/** Usage: 1,000 input tokens, 200 of them from the cache, and 100 output tokens. */
export function anthropicStream({ text = '', call, stop }: ScriptedTurn): string {
  const usage = { input_tokens: 800, cache_read_input_tokens: 200, cache_creation_input_tokens: 0, output_tokens: 1 }
  const model = 'claude-sonnet-4-5-20250929'
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], usage }
  const events: JsonObject[] = [{ type: 'message_start', message }]
  events.push({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
  for (const part of halves(text)) {
    events.push({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: part } })
  }
  events.push({ type: 'content_block_stop', index: 0 })
  if (call) {
    const content_block = { type: 'tool_use', id: 'toolu_1', name: call.name, input: {} }
    events.push({ type: 'content_block_start', index: 1, content_block })
    for (const part of halves(JSON.stringify(call.input))) {
      events.push({ type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: part } })
    }
    events.push({ type: 'content_block_stop', index: 1 })
  }
  const stop_reason = stop ?? (call ? 'tool_use' : 'end_turn')
  events.push(
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 100 } },
    { type: 'message_stop' },
  )
  return events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

/** A reply of the Messages API as one object. */
export function anthropicReply({ text = '', call }: ScriptedTurn): JsonObject {
  const content = call ? { type: 'tool_use', id: 'toolu_1', ...call } : { type: 'text', text }
  const usage = { input_tokens: 1000, output_tokens: 100 }
  const stop_reason = call ? 'tool_use' : 'end_turn'
  return { id: 'msg_1', type: 'message', role: 'assistant', model: 'x', content: [content], stop_reason, usage }
}

function openaiStream({ text = '', call, stop }: ScriptedTurn): string {
  const deltas: JsonObject[] = [{ role: 'assistant', content: '' }, ...halves(text).map((content) => ({ content }))]
  if (call) {
    const [first = '', second = ''] = halves(JSON.stringify(call.input))
    const opened = { index: 0, id: 'call_1', type: 'function', function: { name: call.name, arguments: first } }
    deltas.push({ tool_calls: [opened] }, { tool_calls: [{ index: 0, function: { arguments: second } }] })
  }
  const usage = { prompt_tokens: 1000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 200 } }
  const model = 'gpt-4o-2024-11-20'
  const events: JsonObject[] = [
    ...deltas.map((delta) => ({ model, choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: stop ?? (call ? 'tool_calls' : 'stop') }] },
    { choices: [], usage },
  ]
  return `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`
}

/** A reply of the Responses API as one object; the usage is that of the streams. */
export function responsesReply({ text = '', call, stop }: ScriptedTurn, callId = 'call_1'): JsonObject {
  const content = [{ type: 'output_text', text, annotations: [] }]
  const message = { id: `msg_${callId}`, type: 'message', role: 'assistant', status: 'completed', content }
  const output: JsonObject[] = text === '' ? [] : [message]
  if (call) {
    const { name, input } = call
    const described = { name, call_id: callId, arguments: JSON.stringify(input) }
    output.push({ id: `fc_${callId}`, type: 'function_call', status: 'completed', ...described })
  }
  const input = { input_tokens: 1000, input_tokens_details: { cached_tokens: 200 } }
  const usage = { ...input, output_tokens: 100, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 1100 }
  const status = stop === undefined ? 'completed' : 'incomplete'
  const incomplete_details = stop === undefined ? null : { reason: stop }
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 0,
    model: 'x',
    status,
    incomplete_details,
    error: null,
    output,
    usage,
  }
}

export function responsesStream(turn: ScriptedTurn, callId?: string): string {
  const response = responsesReply(turn, callId)
  const items = (response['output'] as JsonObject[]).flatMap((item, output_index): JsonObject[] => {
    const at = { item_id: item['id'] ?? '', output_index }
    const begun = item['type'] === 'message' ? { ...item, content: [] } : { ...item, arguments: '' }
    const added = { type: 'response.output_item.added', output_index, item: { ...begun, status: 'in_progress' } }
    const done = { type: 'response.output_item.done', output_index, item }
    if (item['type'] !== 'message') {
      const parts = halves(String(item['arguments']))
      return [
        added,
        ...parts.map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
        { type: 'response.function_call_arguments.done', ...at, arguments: item['arguments'] ?? '' },
        done,
      ]
    }
    const part = { type: 'output_text', text: '', annotations: [] }
    const deltas = halves(turn.text ?? '').map((delta) => ({
      type: 'response.output_text.delta',
      ...at,
      content_index: 0,
      delta,
    }))
    return [added, { type: 'response.content_part.added', ...at, content_index: 0, part }, ...deltas, done]
  })
  const created = {
    type: 'response.created',
    response: { ...response, status: 'in_progress', output: [], usage: null },
  }
  const events: JsonObject[] = [created, ...items, { type: `response.${String(response['status'])}`, response }]
  return events
    .map((event, sequence_number): JsonObject => ({ ...event, sequence_number }))
    .map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('')
}

export const providerStreams = { anthropic: anthropicStream, openai: openaiStream }

/** Chunks that end inside lines, events and characters. */
export function smallChunks(text: string, size = 7): Buffer[] {
  const bytes = Buffer.from(text)
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
  return chunks
}

function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2)
  return text === '' ? [] : [text.slice(0, middle), text.slice(middle)]
}
