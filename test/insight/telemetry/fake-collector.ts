import { onTestFinished } from 'vitest'
import { checkOtlpRequest } from './otlp-schema.ts'
import { openFakeUpstream, type FakeUpstream } from '../../fake-upstream.ts'
import type { TestApp } from '../../app.ts'
import { advanceUntil } from '../../automation/webhooks/webhook-receiver.ts'

export interface CollectedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  traceState?: string
  flags: number
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  status: { code?: number }
  /** Attributes by key, without their types. */
  attributes: Record<string, unknown>
}

/** A server that accepts traces like a collector. */
export interface FakeCollector extends FakeUpstream {
  /** Advances the clock until the spans of the task have arrived, and returns them. */
  spansOf(app: TestApp, taskId: string): Promise<CollectedSpan[]>
}

export async function openFakeCollector(): Promise<FakeCollector> {
  const upstream = await openFakeUpstream()
  onTestFinished(() => upstream.close())
  const spansOf = async (app: TestApp, taskId: string) => {
    let spans: CollectedSpan[] = []
    await advanceUntil(app, () => {
      spans = receivedTraces(upstream).find(([root]) => root?.attributes['svc.task.id'] === taskId) ?? []
      return spans.length > 0
    })
    return spans
  }
  return Object.assign(upstream, { spansOf })
}

/** The received spans, grouped by trace. */
export function receivedTraces({ received }: FakeUpstream): CollectedSpan[][] {
  const traces = new Map<string, CollectedSpan[]>()
  for (const { body } of received) {
    checkOtlpRequest(JSON.parse(body))
    for (const span of JSON.parse(body).resourceSpans[0].scopeSpans[0].spans) {
      traces.set(span.traceId, [
        ...(traces.get(span.traceId) ?? []),
        { ...span, attributes: toPlainAttributes(span.attributes) },
      ])
    }
  }
  return [...traces.values()]
}

export function toPlainAttributes(
  attributes: { key: string; value: Record<string, unknown> }[],
): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const [[type, plain] = []] = Object.entries(value)
      if (type === 'arrayValue') return [key, (plain as OtlpTexts).values.map(({ stringValue }) => stringValue)]
      return [key, type === 'intValue' ? Number(plain) : plain]
    }),
  )
}

interface OtlpTexts {
  values: { stringValue: string }[]
}
