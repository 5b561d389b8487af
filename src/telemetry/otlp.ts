import type { Otlp } from '../config/otlp.ts'

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
type Given = string | number | boolean | { doubleValue: number } | null

/** What is null has no attribute. */
export function attributes(given: Record<string, Given>): OtlpAttribute[] {
  return Object.entries(given).flatMap(([key, value]) => (value === null ? [] : [{ key, value: valueOf(value) }]))
}

export const unixNano = (time: string): string => `${Date.parse(time)}000000`

const SCHEMA = 'https://opentelemetry.io/schemas/1.41.0'

export function exportRequest(
  { serviceName, resource }: Otlp,
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
        resource: { attributes: attributes(about) },
        scopeSpans: [{ scope, schemaUrl: SCHEMA, spans }],
        schemaUrl: SCHEMA,
      },
    ],
  }
}

/** 64-bit numbers are text in JSON. */
function valueOf(value: Exclude<Given, null>): OtlpAttribute['value'] {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'object') return value
  return { intValue: String(Math.round(value)) }
}
