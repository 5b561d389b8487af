import type { JsonObject } from '../../../platform/base/json.ts'
import { textField, tryParseJsonObject } from '../../../platform/base/json-fields.ts'
import { badRequest } from '../../../platform/base/problem.ts'
import { removeTrailingSlashes } from '../../../platform/base/text.ts'
import { authorizeRequest } from '../../../connections/auth/authorize-request.ts'
import { isRedirect, requireConfigUrl } from '../../../connections/calls/http-request.ts'
import type { Connection } from '../../../connections/connection/rows.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { createEgressClient, EgressError, type EgressStream } from '../../../platform/egress/http-client.ts'
import { openSecret } from '../../../identity/vault/secrets.ts'
import type { ChannelConversation, ReplyDraft } from './adapter.ts'

const DOWNLOAD_TIMEOUT_MS = 60_000
const MAX_DOWNLOAD_BYTES = 100 * 1024 * 1024
const MAX_REDIRECTS = 3

/** The payload of a reply: text and files, and where they go, which the adapter kept on the client's last message. */
export function toReplyPayload({ lastInbound }: ChannelConversation, { text, files }: ReplyDraft): JsonObject {
  const address = tryParseJsonObject(lastInbound.address ?? '') ?? {}
  return { ...address, text, ...(files.length > 0 && { files }) }
}

/** An address of the provider's API: below `config.base_url` of the connection if it is set. */
export function providerUrl(connection: Connection, defaultBase: string, path: string): URL {
  const base = connection.config.base_url === undefined ? defaultBase : requireConfigUrl(connection, 'base_url')
  return new URL(`${removeTrailingSlashes(base)}${path}`)
}

/** True for an address of the provider itself. The connection's credential must not be sent to any other server. */
export function isProviderAddress({ config }: Connection, address: string, domain: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : null
  if (url?.protocol === 'https:' && `.${url.hostname}`.endsWith(`.${domain}`)) return true
  const base = textField(config, 'base_url')
  return url !== null && URL.canParse(base) && new URL(base).origin === url.origin
}

/**
 * Downloads a file with the connection's credential. A redirect is followed only if the provider is known to redirect,
 * and without the credential: it leads to another server.
 */
export async function* downloadFile(
  ctx: Ctx,
  connection: Connection,
  url: URL,
  redirects: 'follow' | 'refuse',
): AsyncGenerator<Buffer> {
  const request = { method: 'GET', url, headers: {} }
  const authorized = await authorizeRequest(ctx, connection, await openSecret(ctx, connection), request)
  yield* downloadUrl(ctx, authorized.url, authorized.headers, redirects === 'follow' ? MAX_REDIRECTS : 0)
}

/**
 * Downloads a file whose address is its credential. Every failure is a 400: the message is received without the file and says
 * why, because not every provider would deliver it again.
 */
export async function* downloadUrl(
  ctx: Ctx,
  url: URL,
  headers: Record<string, string> = {},
  maxRedirects = 0,
): AsyncGenerator<Buffer> {
  const ended = new AbortController()
  const stopTimeout = ctx.world.clock.after(DOWNLOAD_TIMEOUT_MS, () => ended.abort())
  try {
    yield* (await openDownload(ctx, { url, headers, signal: ended.signal }, maxRedirects)).body
  } catch (error) {
    throw error instanceof EgressError ? failedDownload(error.message) : error
  } finally {
    stopTimeout()
  }
}

async function openDownload(
  ctx: Ctx,
  request: { url: URL; headers: Record<string, string>; signal: AbortSignal },
  maxRedirects: number,
): Promise<EgressStream> {
  const response = await createEgressClient(ctx).stream({ ...request, method: 'GET', maxBytes: MAX_DOWNLOAD_BYTES })
  if (response.status === 200) return response
  const { location } = response.headers
  if (maxRedirects === 0 || !isRedirect(response.status) || !URL.canParse(location ?? '', request.url.href)) {
    throw failedDownload(`the server answered ${response.status}`)
  }
  const target = new URL(location ?? '', request.url)
  return openDownload(ctx, { ...request, url: target, headers: {} }, maxRedirects - 1)
}

export const failedDownload = (reason: string) => badRequest(`it could not be downloaded: ${reason}`)
