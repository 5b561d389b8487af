import type { Ctx } from '../../ctx/ctx.ts'
import { CALL_TIMEOUT_MS, createEgressClient, EgressError, MAX_CALL_BYTES } from '../../egress/http-client.ts'
import { openSecret } from '../../vault/secrets.ts'
import { authorizeRequest, type OutgoingRequest, renewAuthorization } from '../auth/authorize-request.ts'
import type { Connection } from '../rows.ts'
import type { ConnectionTestResult } from './executor.ts'

export interface TestRequest {
  /** A GET where reading is harmless; OPTIONS where a request could have an effect. */
  method: 'GET' | 'OPTIONS'
  url: string
  /** The config names the path, so a 404 means that the address is wrong. */
  isPathNamed?: boolean
}

/** Calls the address of a connection once, with its credential. */
export async function sendTestRequest(
  ctx: Ctx,
  connection: Connection,
  { method, url, isPathNamed = false }: TestRequest,
): Promise<ConnectionTestResult> {
  const secret = await openSecret(ctx, connection)
  const request = { method, url: new URL(url), headers: {} }
  const authorized = await authorizeRequest(ctx, connection, secret, request)
  const result = await sendTestCall(ctx, authorized, isPathNamed)
  if (result.status !== 401) return result
  if (authorized.secrets.length === 0)
    return { ...result, error: 'upstream answered 401: the connection has no secret yet' }
  const renewed = await renewAuthorization(ctx, connection, secret, request, authorized)
  return renewed ? sendTestCall(ctx, renewed, isPathNamed) : result
}

/** The test passes unless the server is unreachable, fails or refuses the credential. */
export async function sendTestCall(
  ctx: Ctx,
  { method, url, headers }: OutgoingRequest,
  isPathNamed = false,
): Promise<ConnectionTestResult> {
  // Without the query, which may have the secret.
  const checked = `${method} ${url.origin}${url.pathname}`
  try {
    const request = { url, method, headers, timeoutMs: CALL_TIMEOUT_MS, maxBytes: MAX_CALL_BYTES }
    const { status } = await createEgressClient(ctx).request(request)
    const error = describeBadStatus(status, isPathNamed)
    return { ok: error === null, checked, status, error }
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    // The server responded; the size of its response does not matter to the test.
    if (error.kind === 'too_large') return { ok: true, checked, status: error.status, error: null }
    return { ok: false, checked, status: error.status, error: error.message }
  }
}

/** A 404 or 405 is fine where the method and the path need not exist. */
function describeBadStatus(status: number, isPathNamed: boolean): string | null {
  if (status === 404 && isPathNamed) return 'upstream answered 404: the address or the path of the test is wrong'
  if (status === 401 || status === 403) return `upstream answered ${status}: it does not accept the secret`
  if (status >= 500) return `upstream answered ${status}`
  if (status >= 300 && status < 400)
    return `upstream answered ${status}: redirects are not followed, use the final address`
  return null
}
