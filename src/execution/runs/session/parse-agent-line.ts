import { isJsonObject, type Json, type JsonObject, isNestedDeeperThan } from '../../../platform/base/json.ts'
import {
  AGENT_EVENT_TYPES,
  type AgentEventType,
  type PipeRequest,
  type PlaneRequest,
} from '../../../platform/contract/agent-protocol.ts'
import type { TranscriptEntry } from '../../../platform/contract/transcript.ts'
import type { NewEvent } from '../../../work/events/event-types.ts'

/** A checked line of an agent. The agent may be hostile, broken or write too much. */
export type AgentMessage =
  | { kind: 'event'; event: NewEvent; size: number }
  | { kind: 'artifact'; artifact: NewArtifact }
  | { kind: 'turn'; entry: TranscriptEntry; size: number }
  | { kind: 'checkpoint'; checkpoint: Json }
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
const MAX_STRING_CHARS = 4096
const MAX_TEXT_CHARS = 16_384
const MAX_EVENT_CHARS = 64 * 1024
/** The length of an event before its strings are truncated; checking a larger one would block the service. */
const MAX_EVENT_LINE_CHARS = 1024 * 1024
/** The same limit as over HTTP: deeper values can be parsed, but writing them as JSON overflows the stack. */
const MAX_NESTING_LEVELS = 64
/** Each level needs two brackets, so a shorter line cannot be nested too deep. */
const MAX_FLAT_LINE_CHARS = 2 * MAX_NESTING_LEVELS

/** `length` is the length of the line in characters; large lines are refused without reading their values. */
export function parseAgentLine(line: JsonObject, length: number, maxArtifactMb: number): AgentMessage {
  if (line.ask !== undefined) return parsePipeRequest(line)
  if (line.event !== undefined) return parseAgentEvent(line.event, line.data, length)
  if (isJsonObject(line.artifact)) return parseArtifact(line.artifact, maxArtifactMb)
  if (isJsonObject(line.turn)) return parseTurn(line.turn, length)
  if (line.checkpoint !== undefined) return parseCheckpoint(line.checkpoint, length)
  if (line.output !== undefined)
    return isTooDeep(line.output, length) ? TOO_DEEP : { kind: 'output', output: line.output }
  if (typeof line.error === 'string') return { kind: 'error', message: line.error.slice(0, 2000) }
  return { kind: 'refused', why: 'the line is neither an event, artifact, output nor error' }
}

/** Checks only the main fields; the route validates the rest. */
function parsePipeRequest(line: JsonObject): AgentMessage {
  const { ask } = line
  const request = parseRequestFields(line)
  const first = line.first === undefined ? undefined : parseRequestFields(line.first)
  if (typeof ask !== 'number' || !request || first === null) {
    return { kind: 'refused', why: 'the request has a missing or invalid field' }
  }
  const { token, method, path, headers, body } = request
  return { kind: 'ask', ask: { ask, token, method, path, headers, body, first } }
}

function parseRequestFields(value: Json): PlaneRequest | null {
  if (!isJsonObject(value)) return null
  const { token, method, path, headers, body } = value
  const hasStrings = typeof token === 'string' && typeof method === 'string' && typeof path === 'string'
  return hasStrings && isOptionalStringMap(headers) && isOptionalObject(body)
    ? { token, method, path, headers, body }
    : null
}

const isOptionalObject = (value: Json | undefined): value is JsonObject | undefined =>
  value === undefined || isJsonObject(value)

const isOptionalStringMap = (value: Json | undefined): value is Record<string, string> | undefined =>
  isOptionalObject(value) && Object.values(value ?? {}).every((text) => typeof text === 'string')

function parseAgentEvent(type: Json, data: Json | undefined, length: number): AgentMessage {
  if (!isAgentEvent(type)) return { kind: 'refused', why: 'agents must not write this event type' }
  if (!isJsonObject(data)) return { kind: 'refused', why: `the event ${type} has no data object` }
  if (length > MAX_EVENT_LINE_CHARS) return { kind: 'refused', why: `the event ${type} is too large` }
  if (isTooDeep(data, length)) return TOO_DEEP
  const event = EVENT_PARSERS[type](data)
  // Parsing only shortens an event, so a short line is a short event.
  const size = length <= MAX_EVENT_CHARS ? length : JSON.stringify(event).length
  if (size > MAX_EVENT_CHARS) return { kind: 'refused', why: `the event ${type} is too large` }
  return { kind: 'event', event, size }
}

const TOO_DEEP: AgentMessage = { kind: 'refused', why: `the line is nested deeper than ${MAX_NESTING_LEVELS} levels` }

/** One level less than the limit, because the line around the value is a level itself. */
const isTooDeep = (value: Json, length: number) =>
  length > MAX_FLAT_LINE_CHARS && isNestedDeeperThan(value, MAX_NESTING_LEVELS - 1)

const isAgentEvent = (type: Json): type is AgentEventType => AGENT_EVENT_TYPES.some((known) => known === type)

/** Keeps only the documented fields of each event type, because clients may read these events. */
const EVENT_PARSERS: Record<AgentEventType, (data: JsonObject) => NewEvent> = {
  'step.started': ({ step, label }) => ({ type: 'step.started', data: { step: toScalar(step), label: toText(label) } }),
  'tool.called'({ call_id, tool, input, truncated }) {
    const shown = truncateStrings(input ?? null)
    const data = { call_id: toText(call_id), tool: toText(tool), input: shown.value }
    return { type: 'tool.called', data: { ...data, ...truncatedMark(shown.isTruncated || truncated === true) } }
  },
  'tool.result'({ call_id, tool, ok, output, error, truncated }) {
    const shown = truncateStrings((ok === true ? output : error) ?? null)
    const outcome = ok === true ? { ok: true, output: shown.value } : { ok: false, error: shown.value }
    const data = { call_id: toText(call_id), tool: toText(tool), ...outcome }
    return { type: 'tool.result', data: { ...data, ...truncatedMark(shown.isTruncated || truncated === true) } }
  },
  progress: ({ text }) => ({ type: 'progress', data: { text: toText(text, MAX_TEXT_CHARS) } }),
  'token.delta': ({ text }) => ({ type: 'token.delta', data: { text: toText(text, MAX_TEXT_CHARS) } }),
}

const truncatedMark = (truncated: boolean): { truncated?: true } => (truncated ? { truncated } : {})

const toText = (value: Json | undefined, maxChars = MAX_STRING_CHARS): string =>
  typeof value === 'string' ? value.slice(0, maxChars) : ''

const toScalar = (value: Json | undefined): Json =>
  typeof value === 'number' || typeof value === 'string' ? value : null

/** The value with long strings truncated, and whether any was. */
function truncateStrings(value: Json): { value: Json; isTruncated: boolean } {
  if (typeof value === 'string')
    return { value: value.slice(0, MAX_STRING_CHARS), isTruncated: value.length > MAX_STRING_CHARS }
  if (Array.isArray(value)) {
    const items = value.map(truncateStrings)
    return { value: items.map((item) => item.value), isTruncated: items.some((item) => item.isTruncated) }
  }
  if (!isJsonObject(value)) return { value, isTruncated: false }
  const fields = Object.entries(value).map(([key, inner]) => [key, truncateStrings(inner)] as const)
  return {
    value: Object.fromEntries(fields.map(([key, inner]) => [key, inner.value])),
    isTruncated: fields.some(([, inner]) => inner.isTruncated),
  }
}

/** Only the bundled harness writes these lines, so only their kind is checked. */
function parseTurn(turn: JsonObject, length: number): AgentMessage {
  if (!isTranscriptEntry(turn)) return { kind: 'refused', why: 'the entry of the transcript is of an unknown kind' }
  return isTooDeep(turn, length) ? TOO_DEEP : { kind: 'turn', entry: turn, size: length }
}

const isTranscriptEntry = (turn: unknown): turn is TranscriptEntry =>
  typeof turn === 'object' && turn !== null && 'by' in turn && ['model', 'tool', 'user'].some((by) => by === turn.by)

const MAX_CHECKPOINT_CHARS = 1024 * 1024

function parseCheckpoint(checkpoint: Json, length: number): AgentMessage {
  if (length > MAX_CHECKPOINT_CHARS) return { kind: 'refused', why: 'the checkpoint is larger than 1 MiB' }
  return isTooDeep(checkpoint, length) ? TOO_DEEP : { kind: 'checkpoint', checkpoint }
}

function parseArtifact({ name, content_type, content_base64 }: JsonObject, maxMb: number): AgentMessage {
  if (typeof name !== 'string' || typeof content_base64 !== 'string') {
    return { kind: 'refused', why: 'the artifact has no name or content' }
  }
  // Invalid base64 would be decoded to an empty or truncated file without an error.
  if (!/^[\w+/=\s-]*$/.test(content_base64)) return { kind: 'refused', why: 'the artifact is not in base64' }
  const content = Buffer.from(content_base64, 'base64')
  if (content.length > maxMb * 1024 * 1024) return { kind: 'refused', why: `the artifact is larger than ${maxMb} MiB` }
  const type = typeof content_type === 'string' && /^[\w.+-]+\/[\w.+-]+(; ?charset=[\w-]+)?$/.test(content_type)
  return {
    kind: 'artifact',
    artifact: {
      name: toSafeFileName(name),
      content_type: type ? content_type : 'application/octet-stream',
      // Encoded again, so that the stored text is valid base64.
      content: content.toString('base64'),
      size: content.length,
    },
  }
}

/** A name that stays below the folder of a client that saves the file, without invisible characters. */
function toSafeFileName(given: string): string {
  const steps = given.replaceAll(/\p{C}/gu, '').split(/[/\\]/)
  const name = steps.filter((step) => !/^[\s.]*$/.test(step)).join('/')
  // After truncating, which may split a character.
  return name.slice(0, 255).replaceAll(/\p{Cs}/gu, '') || 'artifact'
}
