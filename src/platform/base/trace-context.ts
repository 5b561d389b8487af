import type { IncomingHttpHeaders } from 'node:http'

/** The headers of W3C Trace Context, as a task keeps them. Both are valid. */
export interface TraceHeaders {
  traceparent: string
  tracestate: string | null
}

/** The span of the caller that a trace continues. */
export interface TraceParent {
  traceId: string
  spanId: string
  /** Whether the caller records its trace. */
  isSampled: boolean
}

/** The description of the headers for the reference. */
export const TRACE_HEADERS = {
  traceparent: {
    description: 'the span of the caller (W3C Trace Context): the trace of the task continues it; ignored if not valid',
  },
  tracestate: { description: 'kept with `traceparent`, and sent with the trace' },
}

/** The trace that the caller of a request wants to continue. Null without a valid `traceparent`: a bad one is ignored. */
export function readTraceHeaders({ traceparent, tracestate }: IncomingHttpHeaders): TraceHeaders | null {
  if (typeof traceparent !== 'string') return null
  const parent = parseTraceparent(traceparent)
  if (!parent) return null
  const flags = parent.isSampled ? '01' : '00'
  return {
    traceparent: `00-${parent.traceId}-${parent.spanId}-${flags}`,
    tracestate: typeof tracestate === 'string' ? parseTracestate(tracestate) : null,
  }
}

const TRACEPARENT =
  /^(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<rest>-.*)?$/
const SAMPLED_FLAG = 1

/** Null if the text is not valid. Later versions may add fields at the end; version 00 has none. */
export function parseTraceparent(text: string): TraceParent | null {
  const { version, traceId = '', spanId = '', flags = '', rest } = TRACEPARENT.exec(text)?.groups ?? {}
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return null
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED_FLAG) !== 0 }
}

/** Every participant has to keep this much; what is longer is left out as a whole. */
const MAX_TRACESTATE_LENGTH = 512
const MAX_TRACESTATE_MEMBERS = 32
const TRACESTATE_KEY = /^(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})$/
/** Printable characters without comma and equals sign; the last one is no space. */
const TRACESTATE_VALUE = /^[ -+\--<>-~]{0,255}[!-+\--<>-~]$/

/** The members without spaces around them. Null if one of them is not valid: the specification discards all then. */
function parseTracestate(text: string): string | null {
  const members = text
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '')
  const keys = members.map((member) => member.split('=', 1)[0] ?? '')
  const isValid =
    members.length <= MAX_TRACESTATE_MEMBERS &&
    new Set(keys).size === keys.length &&
    members.every((member, i) => isMember(member, keys[i] ?? ''))
  const kept = members.join(',')
  return isValid && kept !== '' && kept.length <= MAX_TRACESTATE_LENGTH ? kept : null
}

const isMember = (member: string, key: string): boolean =>
  member.length > key.length && TRACESTATE_KEY.test(key) && TRACESTATE_VALUE.test(member.slice(key.length + 1))
