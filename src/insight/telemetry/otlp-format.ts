import type { OtlpConfig } from '../../platform/config/otlp-config.ts'

/** A span in the JSON form of OTLP, with the fields that the export uses. */
export interface OtlpSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  traceState?: string
  /** The flags of W3C Trace Context, and in bits 8 and 9 whether the parent is in another process. */
  flags: number
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: OtlpAttribute[]
  status: { code?: number }
}

export interface OtlpAttribute {
  key: string
  value:
    | { stringValue: string }
    | { intValue: string }
    | { doubleValue: number }
    | { boolValue: boolean }
    | { arrayValue: { values: { stringValue: string }[] } }
}

/** `doubleValue` marks a number that is sometimes whole, so that its attribute always has the same type. */
type AttributeValue = string | number | boolean | readonly string[] | { doubleValue: number } | null

/** Null values are left out. */
export function toOtlpAttributes(values: Record<string, AttributeValue>): OtlpAttribute[] {
  return Object.entries(values).flatMap(([key, value]) => (value === null ? [] : [{ key, value: toOtlpValue(value) }]))
}

export const toUnixNano = (time: string): string => `${Date.parse(time)}000000`

const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.41.0'

export function toOtlpRequest(
  { serviceName, resource }: OtlpConfig,
  source: { version: string; replica: string },
  spans: OtlpSpan[],
) {
  const service = {
    'service.name': serviceName,
    'service.version': source.version,
    'service.instance.id': source.replica,
    ...resource,
  }
  const scope = { name: 'agent-work-service', version: source.version }
  return {
    resourceSpans: [
      {
        resource: { attributes: toOtlpAttributes(service) },
        scopeSpans: [{ scope, schemaUrl: SCHEMA_URL, spans }],
        schemaUrl: SCHEMA_URL,
      },
    ],
  }
}

const isTextList = (value: AttributeValue): value is readonly string[] => Array.isArray(value)

/** OTLP writes 64-bit integers as text. */
function toOtlpValue(value: Exclude<AttributeValue, null>): OtlpAttribute['value'] {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (isTextList(value)) return { arrayValue: { values: value.map((stringValue) => ({ stringValue })) } }
  if (typeof value === 'object') return value
  return { intValue: String(Math.round(value)) }
}
