import { isJsonObject, type Json } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import { parseStrictJson } from '../../platform/base/strict-json.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import {
  callTimeoutMs,
  createEgressClient,
  type EgressResponse,
  MAX_CALL_BYTES,
} from '../../platform/egress/http-client.ts'
import { inlinePayloadFiles } from '../../work/files/payload-files.ts'
import { authorizeRequest, type OutgoingRequest, renewAuthorization } from '../auth/authorize-request.ts'
import type { Connection } from '../connection/rows.ts'
import type { ActionCall, UpstreamResponse } from './executor.ts'

/** Sends the payload to `config.api_url` with the secret: the action of email and custom connections. */
export async function postPayload(ctx: Ctx, action: ActionCall): Promise<UpstreamResponse> {
  const { connection, secret, idempotencyKey } = action
  return sendAuthorized(ctx, connection, secret, {
    method: 'POST',
    url: new URL(requireConfigUrl(connection, 'api_url')),
    headers: { 'content-type': 'application/json', accept: 'application/json', 'idempotency-key': idempotencyKey },
    body: JSON.stringify(inlinePayloadFiles(action.payload, action.files)),
  })
}

/** Sends a request with the connection's credential; once more with a new access token if the server answers 401. */
export async function sendAuthorized(
  ctx: Ctx,
  connection: Connection,
  secret: string | null,
  request: OutgoingRequest,
): Promise<UpstreamResponse> {
  const authorized = await authorizeRequest(ctx, connection, secret, request)
  const response = { ...(await sendOutgoing(ctx, authorized)), secrets: authorized.secrets }
  if (response.status !== 401) return response
  const renewed = await renewAuthorization(ctx, connection, secret, request, authorized)
  return renewed ? { ...(await sendOutgoing(ctx, renewed)), secrets: renewed.secrets } : response
}

export async function sendOutgoing(
  ctx: Ctx,
  { method, url, headers, body }: OutgoingRequest,
): Promise<UpstreamResponse> {
  const response = await createEgressClient(ctx).request({
    method,
    url,
    headers,
    ...(body !== undefined && { body }),
    timeoutMs: callTimeoutMs(Buffer.byteLength(body ?? '')),
    maxBytes: MAX_CALL_BYTES,
  })
  return toUpstreamResponse(response)
}

function toUpstreamResponse({ status, headers, body }: EgressResponse): UpstreamResponse {
  const ok = status >= 200 && status < 300
  const contentType = headers['content-type'] ?? 'application/octet-stream'
  const error = ok ? null : isRedirect(status) ? 'upstream answered with a redirect' : `upstream answered ${status}`
  return { ok, status, contentType, body: parseBody(contentType, body), error }
}

export const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

/** Registering a connection does not validate its config, so a missing or wrong URL is reported here, at use. */
export function requireConfigUrl(connection: Connection, ...keys: string[]): string {
  for (const key of keys) {
    const url = connection.config[key]
    if (typeof url === 'string' && isHttpUrl(url)) return url
    if (url !== undefined && url !== null)
      throw badRequest(`connection '${connection.name}': config.${key} must be an http or https url`)
  }
  throw badRequest(`connection '${connection.name}' has no ${keys[0]} in its config`)
}

/** Other schemes have no origin, so no URL can be built below them. */
const isHttpUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

/** Sets the sender from the connection's config, so that an agent cannot choose it. */
export function addSender({ config: { from } }: Connection, payload: Json): Json {
  return typeof from === 'string' && isJsonObject(payload) ? { ...payload, from } : payload
}

/** Parsed JSON if the content type says so and the store can keep it, else text; null for an empty body. */
function parseBody(contentType: string, bytes: Buffer): Json {
  if (bytes.length === 0) return null
  try {
    if (/[/+]json\b/i.test(contentType)) return parseStrictJson(bytes)
  } catch {}
  // PostgreSQL cannot store NUL in text.
  return bytes.toString('utf8').replaceAll('\0', '\ufffd')
}
