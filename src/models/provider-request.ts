import type { IncomingHttpHeaders } from 'node:http'
import type { ModelProvider } from '../contract/agent-protocol.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { ProviderRequest } from './provider-call.ts'

/** A stream says something every few seconds; an answer in one piece is silent for as long as the model works. */
const STREAM_IDLE_TIMEOUT_MS = 120_000
const WHOLE_RESPONSE_IDLE_TIMEOUT_MS = 600_000

/** The call as it leaves: the provider's address, the real key, and of the sandbox's headers only those that it needs. */
export function toProviderRequest(
  ctx: Ctx,
  wire: ModelProvider,
  streams: boolean,
  text: string,
  asked: IncomingHttpHeaders,
): ProviderRequest {
  const { anthropicBaseUrl, openaiBaseUrl } = ctx.config
  const address =
    wire === 'anthropic'
      ? `${withoutTrailingSlashes(anthropicBaseUrl)}/v1/messages`
      : `${withoutTrailingSlashes(openaiBaseUrl)}/chat/completions`
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    accept: streams ? 'text/event-stream' : 'application/json',
    // The meter reads what goes past.
    'accept-encoding': 'identity',
    'user-agent': 'agent-work-service',
    ...(wire === 'anthropic' ? anthropicHeaders(ctx, asked) : openaiHeaders(ctx)),
  }
  return {
    url: new URL(address),
    headers,
    text,
    idleTimeoutMs: streams ? STREAM_IDLE_TIMEOUT_MS : WHOLE_RESPONSE_IDLE_TIMEOUT_MS,
  }
}

/** A local server may need no key, so a missing one is the provider's to complain about. */
function anthropicHeaders(ctx: Ctx, asked: IncomingHttpHeaders): Record<string, string> {
  const key = ctx.world.env('ANTHROPIC_API_KEY')?.trim()
  const beta = asked['anthropic-beta']
  return {
    'anthropic-version': String(asked['anthropic-version'] ?? '2023-06-01'),
    ...(beta !== undefined && { 'anthropic-beta': String(beta) }),
    ...(key && { 'x-api-key': key }),
  }
}

function openaiHeaders(ctx: Ctx): Record<string, string> {
  const key = ctx.world.env('OPENAI_API_KEY')?.trim()
  return key ? { authorization: `Bearer ${key}` } : {}
}

const withoutTrailingSlashes = (url: string) => url.replace(/\/+$/, '')
