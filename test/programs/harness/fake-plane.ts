import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Json, JsonObject } from '../../../src/platform/base/json.ts'
import type {
  Brief,
  PipeResponse,
  PipeRequest,
  PlaneRequest,
  PipeResponsePart,
  ModelProvider,
} from '../../../src/platform/contract/agent-protocol.ts'

export type SeenPlaneRequest = { method: string; path: string; headers: Record<string, string>; body: JsonObject }
/** `chunks` are the pieces of an event stream; after them `cut` breaks the stream off and `hang` never ends it. */
export type FakePlaneReply = { status?: number; json?: Json; chunks?: string[]; cut?: boolean; hang?: boolean }
export type FakePlane = {
  seen: SeenPlaneRequest[]
  folder: string
  close: () => void
  /** Answers one request of a cell. */
  take: (ask: PipeRequest, send: (answer: PipeResponse) => void) => Promise<void>
}

/** A sandbox plane that answers over the pipe with the replies of the test. */
export function startFakePlane(
  answer: (seen: SeenPlaneRequest) => FakePlaneReply | Promise<FakePlaneReply>,
): FakePlane {
  const folder = mkdtempSync(path.join(tmpdir(), 'harness-'))
  const seen: SeenPlaneRequest[] = []
  return {
    seen,
    folder,
    close: () => rmSync(folder, { recursive: true, force: true }),
    async take({ ask, first, ...rest }, send) {
      const take = ({ token, method, path, headers, body = {} }: PlaneRequest) => {
        const one = { method, path, headers: { authorization: `Bearer ${token}`, ...headers }, body }
        seen.push(one)
        return answer(one)
      }
      const before = first && (await take(first))
      if (before && (before.status ?? 200) !== 200) {
        return send({ answer: ask, status: before.status ?? 200, body: before.json ?? null, first: true })
      }
      await sendFakeReply(await take(rest), (part) => send({ answer: ask, ...part }))
    },
  }
}

async function sendFakeReply(
  { status = 200, json, chunks = [], cut, hang }: FakePlaneReply,
  send: (part: PipeResponsePart) => void,
): Promise<void> {
  for (const piece of chunks) {
    send({ piece })
    await new Promise((resolve) => setImmediate(resolve))
  }
  if (cut) send({ cut: true })
  else if (!hang) send({ status, body: json ?? null })
}

export type ScriptedModelTurn = { text?: string; calls?: { name: string; input: Json }[]; stop?: string }

/** Plays the turns one after the other, for all runs together. */
export function scriptedModel(
  turns: ScriptedModelTurn[],
  other: (seen: SeenPlaneRequest) => FakePlaneReply = () => ({ json: {} }),
) {
  let next = 0
  return (seen: SeenPlaneRequest): FakePlaneReply => {
    if (!seen.path.startsWith('/v1/internal/llm/')) return other(seen)
    const turn = turns[next++]
    if (!turn) return { status: 500, json: { error: 'the script has no more turns' } }
    return { chunks: [modelStream(seen.path.includes('/anthropic/') ? 'anthropic' : 'openai', turn)] }
  }
}

export function modelStream(wire: ModelProvider, turn: ScriptedModelTurn): string {
  return wire === 'anthropic' ? anthropicStream(turn) : openaiStream(turn)
}

function anthropicStream({ text, calls = [], stop }: ScriptedModelTurn): string {
  const events: JsonObject[] = [{ type: 'message_start', message: { usage: { input_tokens: 5 } } }, { type: 'ping' }]
  if (text !== undefined) {
    events.push({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
    for (const part of halves(text)) {
      events.push({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: part } })
    }
    events.push({ type: 'content_block_stop', index: 0 })
  }
  for (const [at, { name, input }] of calls.entries()) {
    const index = at + 1
    const content_block = { type: 'tool_use', id: `toolu_${index}`, name, input: {} }
    events.push({ type: 'content_block_start', index, content_block })
    for (const part of halves(JSON.stringify(input))) {
      events.push({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: part } })
    }
    events.push({ type: 'content_block_stop', index })
  }
  const stop_reason = stop ?? (calls.length > 0 ? 'tool_use' : 'end_turn')
  events.push({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 7 } }, { type: 'message_stop' })
  return events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

function openaiStream({ text, calls = [], stop }: ScriptedModelTurn): string {
  const deltas: JsonObject[] = [{ role: 'assistant', content: '' }]
  for (const part of text === undefined ? [] : halves(text)) deltas.push({ content: part })
  for (const [index, { name, input }] of calls.entries()) {
    const [first = '', second = ''] = halves(JSON.stringify(input))
    const opened = { index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } }
    deltas.push({ tool_calls: [opened] }, { tool_calls: [{ index, function: { arguments: first } }] })
    deltas.push({ tool_calls: [{ index, function: { arguments: second } }] })
  }
  const finish_reason = stop ?? (calls.length > 0 ? 'tool_calls' : 'stop')
  const frames: JsonObject[] = deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] }))
  frames.push({ choices: [{ index: 0, delta: {}, finish_reason }] }, { choices: [], usage: { prompt_tokens: 5 } })
  return `${frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('')}data: [DONE]\n\n`
}

function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}

export function testBrief(more: Partial<Brief> = {}): Brief {
  return {
    v: 1,
    task: { id: 'task_1', wedge: 'refunds', task_type: 'triage', input: { order: 7 }, constraints: {} },
    instructions: 'Be kind.',
    skills: [],
    knowledge: [],
    history: [],
    files: [],
    output_schema: null,
    strict_output: false,
    tools: [],
    connections: [],
    workflows: [],
    case: null,
    gate_patterns: ['refund', 'send'],
    shape: 'agent',
    steps: 5,
    temperature: null,
    model: { wire: 'anthropic', name: 'test-model' },
    service: { socket: null, base_url: 'http://svc', task_token: 'svc_tsk_1', gate_token: 'svc_gat_1' },
    ...more,
  }
}
