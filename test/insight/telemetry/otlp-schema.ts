import { z } from 'zod'

/** OTLP's JSON: ids in hexadecimal, 64-bit integers as text, and no field that the protocol does not define. */
const integerText = z.string().regex(/^\d+$/)
const text = z.strictObject({ stringValue: z.string() })
const value = z.union([
  text,
  z.strictObject({ intValue: integerText }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ arrayValue: z.strictObject({ values: z.array(text) }) }),
])
const attributes = z
  .array(z.strictObject({ key: z.string().min(1), value }))
  .refine((all) => new Set(all.map(({ key }) => key)).size === all.length, 'a key is there twice')

const span = z
  .strictObject({
    traceId: z.string().regex(/^(?!0+$)[0-9a-f]{32}$/),
    spanId: z.string().regex(/^(?!0+$)[0-9a-f]{16}$/),
    parentSpanId: z
      .string()
      .regex(/^(?!0+$)[0-9a-f]{16}$/)
      .optional(),
    traceState: z.string().min(1).optional(),
    flags: z.number().int().min(0),
    name: z.string().min(1),
    kind: z.number().int().min(1).max(5),
    startTimeUnixNano: integerText,
    endTimeUnixNano: integerText,
    attributes,
    status: z.strictObject({ code: z.number().int().min(0).max(2).optional() }),
  })
  .refine((one) => BigInt(one.endTimeUnixNano) >= BigInt(one.startTimeUnixNano), 'it ends before it starts')

const scope = z.strictObject({ name: z.string(), version: z.string() })

const OtlpRequest = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes }),
      scopeSpans: z.array(z.strictObject({ scope, schemaUrl: z.string(), spans: z.array(span).min(1) })),
      schemaUrl: z.string(),
    }),
  ),
})

/** Throws if the request is not valid, or if a span begins before its parent in the same request. */
export function checkOtlpRequest(request: unknown): void {
  const spans = OtlpRequest.parse(request).resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap((all) => all.spans),
  )
  const starts = new Map(spans.map(({ spanId, startTimeUnixNano }) => [spanId, BigInt(startTimeUnixNano)]))
  for (const { name, parentSpanId = '', startTimeUnixNano } of spans) {
    const parentStart = starts.get(parentSpanId)
    if (parentStart !== undefined && BigInt(startTimeUnixNano) < parentStart)
      throw new Error(`${name} begins before its parent`)
  }
}
