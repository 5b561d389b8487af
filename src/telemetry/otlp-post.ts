import { pairs } from '../config/otlp.ts'
import { egress, EgressError } from '../connections/egress.ts'
import type { Ctx } from '../ctx/ctx.ts'

/** `later`: the collector may take it yet. */
export type Outcome = 'sent' | 'refused' | 'later'

/** By the protocol these alone are worth another attempt. */
const BUSY = [429, 502, 503, 504]
const MOST_BYTES = 64 * 1024

/** One request. The address is the operator's own, so it may be private; a redirect is a refusal like any other. */
export async function postTraces(ctx: Ctx, url: string, request: object, timeoutMs: number): Promise<Outcome> {
  try {
    const host = new URL(url).hostname.replaceAll(/[[\]]/g, '')
    const { status } = await egress(ctx, { trusted: [host] }).request({
      url,
      method: 'POST',
      headers: { ...secretHeaders(ctx), 'content-type': 'application/json' },
      body: JSON.stringify(request),
      timeoutMs,
      maxBytes: MOST_BYTES,
    })
    return outcomeOf(ctx, status)
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    // The answer came, and only its body is of no use.
    if (error.status !== null) return outcomeOf(ctx, error.status)
    ctx.world.log.warn(`traces not sent: ${error.message}`)
    return 'later'
  }
}

function outcomeOf(ctx: Ctx, status: number): Outcome {
  if (status >= 200 && status < 300) return 'sent'
  ctx.world.log.warn({ status }, 'traces not taken')
  return BUSY.includes(status) ? 'later' : 'refused'
}

const secretHeaders = ({ world }: Ctx) =>
  pairs(world.env('OTEL_EXPORTER_OTLP_TRACES_HEADERS') || world.env('OTEL_EXPORTER_OTLP_HEADERS'))
