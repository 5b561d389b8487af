import { isJsonObject, type Json, type JsonObject, nestsDeeper } from '../base/json.ts'
import { AGENT_EVENTS, type AgentEvent, type PlaneAsk, type Question } from '../base/protocol.ts'
import type { NewEvent } from '../events/types.ts'

/** What a line of an agent means, once it is checked. The agent may be lying, broken or flooding. */
export type Heard =
  | { kind: 'event'; event: NewEvent; size: number }
  | { kind: 'artifact'; artifact: NewArtifact }
  | { kind: 'output'; output: Json }
  | { kind: 'error'; message: string }
  | { kind: 'ask'; ask: PlaneAsk }
  | { kind: 'refused'; why: string }

export interface NewArtifact {
  name: string
  content_type: string
  /** In base64. */
  content: string
  size: number
}

export const MOST_ARTIFACTS = 50
const MOST_ARTIFACT_BYTES = 10 * 1024 * 1024
const MOST_STRING = 4096
const MOST_TEXT = 16_384
const MOST_DATA = 64 * 1024
/** An event as it is written, before its long strings are cut: to look through a larger one takes everybody's time. */
const MOST_EVENT_LINE = 1024 * 1024
/** As for what comes over HTTP: deeper values can be read, but the stack ends when they are written out again. */
const MOST_LEVELS = 64
/** A line needs two brackets for each level, so a shorter one cannot nest too deep. */
const SHORT = 2 * MOST_LEVELS

/** `length` is that of the line as it was written. Whatever can be refused without looking through it is refused so. */
export function hear(line: JsonObject, length: number): Heard {
  if (line.ask !== undefined) return hearAsk(line)
  if (line.event !== undefined) return hearEvent(line.event, line.data, length)
  if (isJsonObject(line.artifact)) return hearArtifact(line.artifact)
  if (line.output !== undefined)
    return isTooDeep(line.output, length) ? TOO_DEEP : { kind: 'output', output: line.output }
  if (typeof line.error === 'string') return { kind: 'error', message: line.error.slice(0, 2000) }
  return { kind: 'refused', why: 'a line that is neither event, artifact, output nor error' }
}

/** Only its outline: the route judges what is asked. */
function hearAsk(line: JsonObject): Heard {
  const { ask } = line
  const asked = questionIn(line)
  const first = line.first === undefined ? undefined : questionIn(line.first)
  if (typeof ask !== 'number' || !asked || first === null) {
    return { kind: 'refused', why: 'a question that makes no sense' }
  }
  const { token, method, path, headers, body } = asked
  return { kind: 'ask', ask: { ask, token, method, path, headers, body, first } }
}

function questionIn(value: Json): Question | null {
  if (!isJsonObject(value)) return null
  const { token, method, path, headers, body } = value
  const named = typeof token === 'string' && typeof method === 'string' && typeof path === 'string'
  return named && isWords(headers) && isBody(body) ? { token, method, path, headers, body } : null
}

const isBody = (value: Json | undefined): value is JsonObject | undefined => value === undefined || isJsonObject(value)

const isWords = (value: Json | undefined): value is Record<string, string> | undefined =>
  isBody(value) && Object.values(value ?? {}).every((word) => typeof word === 'string')

function hearEvent(type: Json, data: Json | undefined, length: number): Heard {
  if (!isAgentEvent(type)) return { kind: 'refused', why: 'an event that agents may not write' }
  if (!isJsonObject(data)) return { kind: 'refused', why: `an event without data: ${type}` }
  if (length > MOST_EVENT_LINE) return { kind: 'refused', why: `an event that is too large: ${type}` }
  if (isTooDeep(data, length)) return TOO_DEEP
  const event = EVENTS[type](data)
  // Shaping only shortens, so a short line makes a short event.
  const size = length <= MOST_DATA ? length : JSON.stringify(event).length
  if (size > MOST_DATA) return { kind: 'refused', why: `an event that is too large: ${type}` }
  return { kind: 'event', event, size }
}

const TOO_DEEP: Heard = { kind: 'refused', why: `a line that nests deeper than ${MOST_LEVELS}` }

/** The value of a field: the line around it is a level too. */
const isTooDeep = (value: Json, length: number) => length > SHORT && nestsDeeper(value, MOST_LEVELS - 1)

const isAgentEvent = (type: Json): type is AgentEvent => AGENT_EVENTS.some((known) => known === type)

/** Only the fields that belong to a type, each of its kind: what customers read is what the table says. */
const EVENTS: Record<AgentEvent, (data: JsonObject) => NewEvent> = {
  'step.started': ({ step, label }) => ({ type: 'step.started', data: { step: scalar(step), label: text(label) } }),
  'tool.called'({ call_id, tool, input, truncated }) {
    const shown = cut(input ?? null)
    const data = { call_id: text(call_id), tool: text(tool), input: shown.value }
    return { type: 'tool.called', data: { ...data, ...mark(shown.cut || truncated === true) } }
  },
  'tool.result'({ call_id, tool, ok, output, error, truncated }) {
    const shown = cut((ok === true ? output : error) ?? null)
    const told = ok === true ? { ok: true, output: shown.value } : { ok: false, error: shown.value }
    const data = { call_id: text(call_id), tool: text(tool), ...told }
    return { type: 'tool.result', data: { ...data, ...mark(shown.cut || truncated === true) } }
  },
  progress: ({ text: said }) => ({ type: 'progress', data: { text: text(said, MOST_TEXT) } }),
  'token.delta': ({ text: said }) => ({ type: 'token.delta', data: { text: text(said, MOST_TEXT) } }),
}

const mark = (truncated: boolean): { truncated?: true } => (truncated ? { truncated } : {})

const text = (value: Json | undefined, most = MOST_STRING): string =>
  typeof value === 'string' ? value.slice(0, most) : ''

const scalar = (value: Json | undefined): Json =>
  typeof value === 'number' || typeof value === 'string' ? value : null

/** The value with its long strings cut, and whether any was. */
function cut(value: Json): { value: Json; cut: boolean } {
  if (typeof value === 'string') return { value: value.slice(0, MOST_STRING), cut: value.length > MOST_STRING }
  if (Array.isArray(value)) {
    const items = value.map(cut)
    return { value: items.map((item) => item.value), cut: items.some((item) => item.cut) }
  }
  if (!isJsonObject(value)) return { value, cut: false }
  const fields = Object.entries(value).map(([key, inner]) => [key, cut(inner)] as const)
  return {
    value: Object.fromEntries(fields.map(([key, inner]) => [key, inner.value])),
    cut: fields.some(([, inner]) => inner.cut),
  }
}

function hearArtifact({ name, content_type, content_base64 }: JsonObject): Heard {
  if (typeof name !== 'string' || typeof content_base64 !== 'string') {
    return { kind: 'refused', why: 'an artifact without a name or content' }
  }
  // Decoded all the same it would be delivered empty or cut short, and nobody would know.
  if (!/^[\w+/=\s-]*$/.test(content_base64)) return { kind: 'refused', why: 'an artifact that is not in base64' }
  const content = Buffer.from(content_base64, 'base64')
  if (content.length > MOST_ARTIFACT_BYTES) return { kind: 'refused', why: 'an artifact larger than 10 MiB' }
  const type = typeof content_type === 'string' && /^[\w.+-]+\/[\w.+-]+(; ?charset=[\w-]+)?$/.test(content_type)
  return {
    kind: 'artifact',
    artifact: {
      name: fileName(name),
      content_type: type ? content_type : 'application/octet-stream',
      // Written anew, so that it is base64 whatever the agent wrote.
      content: content.toString('base64'),
      size: content.length,
    },
  }
}

/** Whoever fetches files saves them under this name: it stays below their folder, and shows what it is. */
function fileName(given: string): string {
  const steps = given.replaceAll(/\p{C}/gu, '').split(/[/\\]/)
  const name = steps.filter((step) => !/^[\s.]*$/.test(step)).join('/')
  // Behind the cut, which may go through the middle of a character.
  return name.slice(0, 255).replaceAll(/\p{Cs}/gu, '') || 'artifact'
}
