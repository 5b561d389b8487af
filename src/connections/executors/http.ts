import { isJsonObject, type Json } from '../../base/json.ts'
import { badRequest } from '../../base/problem.ts'
import { parseStrictJson } from '../../base/strict-json.ts'
import type { Ctx } from '../../ctx/ctx.ts'
import { egress, type Incoming } from '../egress.ts'
import { CALL_TIMEOUT_MS, MOST_BYTES } from '../limits.ts'
import type { Connection } from '../rows.ts'
import type { Action, Reply, Use } from './executor.ts'

/** `POST {config.api_url}` with the payload and the bearer secret: how email and custom connections act. */
export async function postPayload(ctx: Ctx, action: Action): Promise<Reply> {
  const url = configUrl(action.connection, 'api_url')
  return post(ctx, url, JSON.stringify(action.payload), {
    ...bearer(action),
    'idempotency-key': action.idempotencyKey,
  })
}

export async function post(ctx: Ctx, url: string, body: string, headers: Record<string, string>): Promise<Reply> {
  const answer = await egress(ctx).request({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body,
    timeoutMs: CALL_TIMEOUT_MS,
    maxBytes: MOST_BYTES,
  })
  return replyOf(answer)
}

export function replyOf({ status, headers, body }: Incoming): Reply {
  const ok = status >= 200 && status < 300
  const contentType = headers['content-type'] ?? 'application/octet-stream'
  const error = ok ? null : isRedirect(status) ? 'upstream answered with a redirect' : `upstream answered ${status}`
  return { ok, status, contentType, body: bodyOf(contentType, body), error }
}

export const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

/** Config is not judged when a connection is registered, so what is missing appears here, at use. */
export function configUrl(connection: Connection, ...keys: string[]): string {
  for (const key of keys) {
    const url = connection.config[key]
    if (typeof url === 'string' && URL.canParse(url)) return url
    if (url !== undefined && url !== null)
      throw badRequest(`connection '${connection.name}': config.${key} is not a url`)
  }
  throw badRequest(`connection '${connection.name}' has no ${keys[0]} in its config`)
}

export function bearer({ connection, secret }: Use): Record<string, string> {
  if (secret === null) return {}
  if (!/^[\x20-\x7e]+$/.test(secret)) {
    throw badRequest(`the secret of connection '${connection.name}' has characters that a header cannot carry`)
  }
  return { authorization: `Bearer ${secret}` }
}

/** The sender is the founder's to say, whatever the agent writes. */
export function withSender({ config: { from } }: Connection, payload: Json): Json {
  return typeof from === 'string' && isJsonObject(payload) ? { ...payload, from } : payload
}

/** JSON when it says so and can be kept, else the text; nothing at all is null. */
function bodyOf(contentType: string, bytes: Buffer): Json {
  if (bytes.length === 0) return null
  try {
    if (/[/+]json\b/i.test(contentType)) return parseStrictJson(bytes)
  } catch {}
  // PostgreSQL has no place for NUL.
  return bytes.toString('utf8').replaceAll('\0', '\ufffd')
}
