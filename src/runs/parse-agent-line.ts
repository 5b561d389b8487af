import { isJsonObject, type Json, type JsonObject, isNestedDeeperThan } from '../base/json.ts'
import {
  AGENT_EVENT_TYPES,
  type AgentEventType,
  type PipeRequest,
  type PlaneRequest,
} from '../contract/agent-protocol.ts'
import type { NewEvent } from '../events/event-types.ts'

/** What a line of an agent means, once it is checked. The agent may be lying, broken or flooding. */
export type AgentMessage =
  | { kind: 'event'; event: NewEvent; size: number }
  | { kind: 'artifact'; artifact: NewArtifact }
  | { kind: 'output'; output: Json }
  | { kind: 'error'; message: string }
  | { kind: 'ask'; ask: PipeRequest }
  | { kind: 'refused'; why: string }

export interface NewArtifact {
  name: string
  content_type: string
  /** In base64. */
  content: string
  size: number
}

export const MAX_ARTIFACTS = 50
const MAX_ARTIFACT_BYTES = 10 * 1024 * 1024
const MAX_STRING_CHARS = 4096
const MAX_TEXT_CHARS = 16_384
const MAX_EVENT_CHARS = 64 * 1024
/** An event as it is written, before its long strings are cut: to look through a larger one takes everybody's time. */
const MAX_EVENT_LINE_CHARS = 1024 * 1024
/** As for what comes over HTTP: deeper values can be read, but the stack ends when they are written out again. */
const MAX_NESTING_LEVELS = 64
/** A line needs two brackets for each level, so a shorter one cannot nest too deep. */
const MAX_FLAT_LINE_CHARS = 2 * MAX_NESTING_LEVELS

/** `length` is that of the line as it was written. Whatever can be refused without looking through it is refused so. */
export function parseAgentLine(line: JsonObject, length: number): AgentMessage {
  if (line.ask !== undefined) return parsePipeRequest(line)
  if (line.event !== undefined) return parseAgentEvent(line.event, line.data, length)
  if (isJsonObject(line.artifact)) return parseArtifact(line.artifact)
  if (line.output !== undefined)
    return isTooDeep(line.output, length) ? TOO_DEEP : { kind: 'output', output: line.output }
  if (typeof line.error === 'string') return { kind: 'error', message: line.error.slice(0, 2000) }
  return { kind: 'refused', why: 'a line that is neither event, artifact, output nor error' }
}

/** Only its outline: the route judges what is asked. */
function parsePipeRequest(line: JsonObject): AgentMessage {
  const { ask } = line
  const asked = parseRequestFields(line)
  const first = line.first === undefined ? undefined : parseRequestFields(line.first)
  if (typeof ask !== 'number' || !asked || first === null) {
    return { kind: 'refused', why: 'a question that makes no sense' }
  }
  const { token, method, path, headers, body } = asked
  return { kind: 'ask', ask: { ask, token, method, path, headers, body, first } }
}

function parseRequestFields(value: Json): PlaneRequest | null {
  if (!isJsonObject(value)) return null
  const { token, method, path, headers, body } = value
  const named = typeof token === 'string' && typeof method === 'string' && typeof path === 'string'
  return named && isOptionalStringMap(headers) && isOptionalObject(body) ? { token, method, path, headers, body } : null
}

const isOptionalObject = (value: Json | undefined): value is JsonObject | undefined =>
  value === undefined || isJsonObject(value)

const isOptionalStringMap = (value: Json | undefined): value is Record<string, string> | undefined =>
  isOptionalObject(value) && Object.values(value ?? {}).every((word) => typeof word === 'string')

function parseAgentEvent(type: Json, data: Json | undefined, length: number): AgentMessage {
  if (!isAgentEvent(type)) return { kind: 'refused', why: 'an event that agents may not write' }
  if (!isJsonObject(data)) return { kind: 'refused', why: `an event without data: ${type}` }
  if (length > MAX_EVENT_LINE_CHARS) return { kind: 'refused', why: `an event that is too large: ${type}` }
  if (isTooDeep(data, length)) return TOO_DEEP
  const event = EVENT_PARSERS[type](data)
  // Shaping only shortens, so a short line makes a short event.
  const size = length <= MAX_EVENT_CHARS ? length : JSON.stringify(event).length
  if (size > MAX_EVENT_CHARS) return { kind: 'refused', why: `an event that is too large: ${type}` }
  return { kind: 'event', event, size }
}

const TOO_DEEP: AgentMessage = { kind: 'refused', why: `a line that nests deeper than ${MAX_NESTING_LEVELS}` }

/** The value of a field: the line around it is a level too. */
const isTooDeep = (value: Json, length: number) =>
  length > MAX_FLAT_LINE_CHARS && isNestedDeeperThan(value, MAX_NESTING_LEVELS - 1)

const isAgentEvent = (type: Json): type is AgentEventType => AGENT_EVENT_TYPES.some((known) => known === type)

/** Only the fields that belong to a type, each of its kind: what customers read is what the table says. */
const EVENT_PARSERS: Record<AgentEventType, (data: JsonObject) => NewEvent> = {
  'step.started': ({ step, label }) => ({ type: 'step.started', data: { step: toScalar(step), label: toText(label) } }),
  'tool.called'({ call_id, tool, input, truncated }) {
    const shown = truncateStrings(input ?? null)
    const data = { call_id: toText(call_id), tool: toText(tool), input: shown.value }
    return { type: 'tool.called', data: { ...data, ...truncatedMark(shown.cut || truncated === true) } }
  },
  'tool.result'({ call_id, tool, ok, output, error, truncated }) {
    const shown = truncateStrings((ok === true ? output : error) ?? null)
    const told = ok === true ? { ok: true, output: shown.value } : { ok: false, error: shown.value }
    const data = { call_id: toText(call_id), tool: toText(tool), ...told }
    return { type: 'tool.result', data: { ...data, ...truncatedMark(shown.cut || truncated === true) } }
  },
  progress: ({ text: said }) => ({ type: 'progress', data: { text: toText(said, MAX_TEXT_CHARS) } }),
  'token.delta': ({ text: said }) => ({ type: 'token.delta', data: { text: toText(said, MAX_TEXT_CHARS) } }),
}

const truncatedMark = (truncated: boolean): { truncated?: true } => (truncated ? { truncated } : {})

const toText = (value: Json | undefined, most = MAX_STRING_CHARS): string =>
  typeof value === 'string' ? value.slice(0, most) : ''

const toScalar = (value: Json | undefined): Json =>
  typeof value === 'number' || typeof value === 'string' ? value : null

/** The value with its long strings cut, and whether any was. */
function truncateStrings(value: Json): { value: Json; cut: boolean } {
  if (typeof value === 'string')
    return { value: value.slice(0, MAX_STRING_CHARS), cut: value.length > MAX_STRING_CHARS }
  if (Array.isArray(value)) {
    const items = value.map(truncateStrings)
    return { value: items.map((item) => item.value), cut: items.some((item) => item.cut) }
  }
  if (!isJsonObject(value)) return { value, cut: false }
  const fields = Object.entries(value).map(([key, inner]) => [key, truncateStrings(inner)] as const)
  return {
    value: Object.fromEntries(fields.map(([key, inner]) => [key, inner.value])),
    cut: fields.some(([, inner]) => inner.cut),
  }
}

function parseArtifact({ name, content_type, content_base64 }: JsonObject): AgentMessage {
  if (typeof name !== 'string' || typeof content_base64 !== 'string') {
    return { kind: 'refused', why: 'an artifact without a name or content' }
  }
  // Decoded all the same it would be delivered empty or cut short, and nobody would know.
  if (!/^[\w+/=\s-]*$/.test(content_base64)) return { kind: 'refused', why: 'an artifact that is not in base64' }
  const content = Buffer.from(content_base64, 'base64')
  if (content.length > MAX_ARTIFACT_BYTES) return { kind: 'refused', why: 'an artifact larger than 10 MiB' }
  const type = typeof content_type === 'string' && /^[\w.+-]+\/[\w.+-]+(; ?charset=[\w-]+)?$/.test(content_type)
  return {
    kind: 'artifact',
    artifact: {
      name: toSafeFileName(name),
      content_type: type ? content_type : 'application/octet-stream',
      // Written anew, so that it is base64 whatever the agent wrote.
      content: content.toString('base64'),
      size: content.length,
    },
  }
}

/** Whoever fetches files saves them under this name: it stays below their folder, and shows what it is. */
function toSafeFileName(given: string): string {
  const steps = given.replaceAll(/\p{C}/gu, '').split(/[/\\]/)
  const name = steps.filter((step) => !/^[\s.]*$/.test(step)).join('/')
  // Behind the cut, which may go through the middle of a character.
  return name.slice(0, 255).replaceAll(/\p{Cs}/gu, '') || 'artifact'
}
