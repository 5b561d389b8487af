import { parseKeyValueList } from '../../platform/config/otlp-config.ts'
import { createEgressClient, EgressError } from '../../platform/egress/http-client.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'

/** `later`: the request should be sent again. */
export type TracePostOutcome = 'sent' | 'refused' | 'later'

/** The OTLP specification allows a retry only for these. */
const RETRYABLE_STATUSES = [429, 502, 503, 504]
const MAX_RESPONSE_BYTES = 64 * 1024

/** Sends one request. The operator configured the address, so it may be private; a redirect counts as a refusal. */
export async function postTraces(ctx: Ctx, url: string, request: object, timeoutMs: number): Promise<TracePostOutcome> {
  try {
    const host = new URL(url).hostname.replaceAll(/[[\]]/g, '')
    const { status } = await createEgressClient(ctx, { trusted: [host] }).request({
      url,
      method: 'POST',
      headers: { ...secretHeaders(ctx), 'content-type': 'application/json' },
      body: JSON.stringify(request),
      timeoutMs,
      maxBytes: MAX_RESPONSE_BYTES,
    })
    return toOutcome(ctx, status)
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    // The collector has responded; only the body could not be read.
    if (error.status !== null) return toOutcome(ctx, error.status)
    ctx.world.log.warn(`traces not sent: ${error.message}`)
    return 'later'
  }
}

function toOutcome(ctx: Ctx, status: number): TracePostOutcome {
  if (status >= 200 && status < 300) return 'sent'
  ctx.world.log.warn({ status }, 'traces refused by the collector')
  return RETRYABLE_STATUSES.includes(status) ? 'later' : 'refused'
}

const secretHeaders = ({ world }: Ctx) =>
  parseKeyValueList(world.env('OTEL_EXPORTER_OTLP_TRACES_HEADERS') || world.env('OTEL_EXPORTER_OTLP_HEADERS'))
