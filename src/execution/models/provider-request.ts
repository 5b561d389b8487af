import type { IncomingHttpHeaders } from 'node:http'
import type { ModelProvider } from '../../platform/contract/agent-protocol.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { ProviderRequest } from './provider-call.ts'
import { PROVIDER_KEY_SETTINGS } from './provider-keys.ts'
import { removeTrailingSlashes } from '../../platform/base/text.ts'

/** A stream sends something every few seconds; a response that is not streamed comes only when the model is done. */
const STREAM_IDLE_TIMEOUT_MS = 120_000
const WHOLE_RESPONSE_IDLE_TIMEOUT_MS = 600_000

/** A call to an endpoint of a provider; `path` is below its base URL. */
export interface ProviderCall {
  provider: ModelProvider
  path: string
  streams: boolean
  text: string
}

/** The request to the provider: its URL, the real key, and only those headers of the sandbox that it needs. */
export function toProviderRequest(
  ctx: Ctx,
  { provider, path, streams, text }: ProviderCall,
  sandboxHeaders: IncomingHttpHeaders,
): ProviderRequest {
  const { anthropicBaseUrl, openaiBaseUrl, modelTimeoutMs } = ctx.config
  const baseUrl = provider === 'anthropic' ? anthropicBaseUrl : openaiBaseUrl
  const key = providerKey(ctx, provider)
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    accept: streams ? 'text/event-stream' : 'application/json',
    // The proxy reads the usage in the response, so the response must not be compressed.
    'accept-encoding': 'identity',
    'user-agent': 'agent-work-service',
    ...(provider === 'anthropic' ? anthropicHeaders(key, sandboxHeaders) : openaiHeaders(key)),
  }
  return {
    url: new URL(`${removeTrailingSlashes(baseUrl)}/${path}`),
    headers,
    key,
    text,
    idleTimeoutMs: modelTimeoutMs ?? (streams ? STREAM_IDLE_TIMEOUT_MS : WHOLE_RESPONSE_IDLE_TIMEOUT_MS),
  }
}

/** A local server may need no key, so a missing key is left for the provider to refuse. */
export const providerKey = (ctx: Ctx, provider: ModelProvider): string | null =>
  ctx.world.env(PROVIDER_KEY_SETTINGS[provider])?.trim() || null

function anthropicHeaders(key: string | null, sandboxHeaders: IncomingHttpHeaders): Record<string, string> {
  const beta = sandboxHeaders['anthropic-beta']
  return {
    'anthropic-version': String(sandboxHeaders['anthropic-version'] ?? '2023-06-01'),
    ...(beta !== undefined && { 'anthropic-beta': String(beta) }),
    ...(key && { 'x-api-key': key }),
  }
}

function openaiHeaders(key: string | null): Record<string, string> {
  return key ? { authorization: `Bearer ${key}` } : {}
}
