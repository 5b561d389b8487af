import { onTestFinished } from 'vitest'
import { openFakeUpstream, type FakeUpstream } from '../fake-upstream.ts'
import type { TestApp } from '../app.ts'
import { advanceUntil } from '../webhooks/webhook-receiver.ts'

export interface CollectedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  status: { code?: number }
  /** Attributes by key, without the wrapping of their types. */
  about: Record<string, unknown>
}

/** A server that takes traces as a collector does. */
export interface FakeCollector extends FakeUpstream {
  /** The spans of a task, once they have come; the clock runs meanwhile. */
  spansOf(app: TestApp, taskId: string): Promise<CollectedSpan[]>
}

export async function openFakeCollector(): Promise<FakeCollector> {
  const outside = await openFakeUpstream()
  onTestFinished(() => outside.close())
  const spansOf = async (app: TestApp, taskId: string) => {
    let spans: CollectedSpan[] = []
    await advanceUntil(app, () => {
      spans = receivedTraces(outside).find(([root]) => root?.about['svc.task.id'] === taskId) ?? []
      return spans.length > 0
    })
    return spans
  }
  return Object.assign(outside, { spansOf })
}

/** All that was received, by trace. */
export function receivedTraces({ received }: FakeUpstream): CollectedSpan[][] {
  const traces = new Map<string, CollectedSpan[]>()
  for (const { body } of received) {
    for (const span of JSON.parse(body).resourceSpans[0].scopeSpans[0].spans) {
      traces.set(span.traceId, [
        ...(traces.get(span.traceId) ?? []),
        { ...span, about: toPlainAttributes(span.attributes) },
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
      const [[type, told] = []] = Object.entries(value)
      return [key, type === 'intValue' ? Number(told) : told]
    }),
  )
}
