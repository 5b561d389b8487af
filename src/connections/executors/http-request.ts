import { isJsonObject, type Json } from '../../base/json.ts'
import { badRequest } from '../../base/problem.ts'
import { parseStrictJson } from '../../base/strict-json.ts'
import type { Ctx } from '../../ctx/ctx.ts'
import { createEgressClient, type EgressResponse } from '../../egress/http-client.ts'
import { CALL_TIMEOUT_MS, MAX_CALL_BYTES } from '../../egress/limits.ts'
import type { Connection } from '../rows.ts'
import type { ActionCall, UpstreamResponse, ConnectionUse } from './executor.ts'

/** `POST {config.api_url}` with the payload and the bearer secret: how email and custom connections act. */
export async function postPayload(ctx: Ctx, action: ActionCall): Promise<UpstreamResponse> {
  const url = requireConfigUrl(action.connection, 'api_url')
  return postJson(ctx, url, JSON.stringify(action.payload), {
    ...authorizationHeader(action),
    'idempotency-key': action.idempotencyKey,
  })
}

export async function postJson(
  ctx: Ctx,
  url: string,
  body: string,
  headers: Record<string, string>,
): Promise<UpstreamResponse> {
  const answer = await createEgressClient(ctx).request({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body,
    timeoutMs: CALL_TIMEOUT_MS,
    maxBytes: MAX_CALL_BYTES,
  })
  return toUpstreamResponse(answer)
}

export function toUpstreamResponse({ status, headers, body }: EgressResponse): UpstreamResponse {
  const ok = status >= 200 && status < 300
  const contentType = headers['content-type'] ?? 'application/octet-stream'
  const error = ok ? null : isRedirect(status) ? 'upstream answered with a redirect' : `upstream answered ${status}`
  return { ok, status, contentType, body: parseBody(contentType, body), error }
}

export const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

/** Config is not judged when a connection is registered, so what is missing appears here, at use. */
export function requireConfigUrl(connection: Connection, ...keys: string[]): string {
  for (const key of keys) {
    const url = connection.config[key]
    if (typeof url === 'string' && URL.canParse(url)) return url
    if (url !== undefined && url !== null)
      throw badRequest(`connection '${connection.name}': config.${key} is not a url`)
  }
  throw badRequest(`connection '${connection.name}' has no ${keys[0]} in its config`)
}

export function authorizationHeader({ connection, secret }: ConnectionUse): Record<string, string> {
  if (secret === null) return {}
  if (!/^[\x20-\x7e]+$/.test(secret)) {
    throw badRequest(`the secret of connection '${connection.name}' has characters that a header cannot carry`)
  }
  return { authorization: `Bearer ${secret}` }
}

/** The sender is the founder's to say, whatever the agent writes. */
export function addSender({ config: { from } }: Connection, payload: Json): Json {
  return typeof from === 'string' && isJsonObject(payload) ? { ...payload, from } : payload
}

/** JSON when it says so and can be kept, else the text; nothing at all is null. */
function parseBody(contentType: string, bytes: Buffer): Json {
  if (bytes.length === 0) return null
  try {
    if (/[/+]json\b/i.test(contentType)) return parseStrictJson(bytes)
  } catch {}
  // PostgreSQL has no place for NUL.
  return bytes.toString('utf8').replaceAll('\0', '\ufffd')
}
