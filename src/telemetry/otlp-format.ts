import type { OtlpConfig } from '../config/otlp-config.ts'

/** OTLP in its JSON form, as far as it is used here. */
export interface OtlpSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: OtlpAttribute[]
  status: { code?: number }
}

export interface OtlpAttribute {
  key: string
  value: { stringValue: string } | { intValue: string } | { doubleValue: number } | { boolValue: boolean }
}

/** A figure that may be whole by chance says that it is none, so that it has one type everywhere. */
type AttributeValue = string | number | boolean | { doubleValue: number } | null

/** What is null has no attribute. */
export function toOtlpAttributes(given: Record<string, AttributeValue>): OtlpAttribute[] {
  return Object.entries(given).flatMap(([key, value]) => (value === null ? [] : [{ key, value: toOtlpValue(value) }]))
}

export const toUnixNano = (time: string): string => `${Date.parse(time)}000000`

const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.41.0'

export function toOtlpRequest(
  { serviceName, resource }: OtlpConfig,
  by: { version: string; replica: string },
  spans: OtlpSpan[],
) {
  const about = {
    'service.name': serviceName,
    'service.version': by.version,
    'service.instance.id': by.replica,
    ...resource,
  }
  const scope = { name: 'agent-work-service', version: by.version }
  return {
    resourceSpans: [
      {
        resource: { attributes: toOtlpAttributes(about) },
        scopeSpans: [{ scope, schemaUrl: SCHEMA_URL, spans }],
        schemaUrl: SCHEMA_URL,
      },
    ],
  }
}

/** 64-bit numbers are text in JSON. */
function toOtlpValue(value: Exclude<AttributeValue, null>): OtlpAttribute['value'] {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'object') return value
  return { intValue: String(Math.round(value)) }
}
