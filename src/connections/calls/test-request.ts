import type { Ctx } from '../../platform/ctx/ctx.ts'
import { EgressError } from '../../platform/egress/http-client.ts'
import { createSecretMask } from '../../identity/vault/mask-secrets.ts'
import { openSecret } from '../../identity/vault/secrets.ts'
import { authorizeRequest, type OutgoingRequest, renewAuthorization } from '../auth/authorize-request.ts'
import { findErrorWords } from './error-words.ts'
import { toReasonLine } from './failure-reason.ts'
import type { Connection } from '../connection/rows.ts'
import type { ConnectionTestResult } from './executor.ts'
import { sendOutgoing } from './http-request.ts'

export interface TestRequest {
  /** A GET where reading is harmless; OPTIONS where a request could have an effect. */
  method: 'GET' | 'OPTIONS'
  url: string
  /** The config names the path of the test. */
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
  const secrets = [secret, ...authorized.secrets]
  const result = await sendTestCall(ctx, authorized, { isPathNamed, secrets })
  if (result.status !== 401) return result
  if (authorized.secrets.length === 0)
    return { ...result, error: 'upstream answered 401: the connection has no secret yet' }
  const renewed = await renewAuthorization(ctx, connection, secret, request, authorized)
  return renewed ? sendTestCall(ctx, renewed, { isPathNamed, secrets: [secret, ...renewed.secrets] }) : result
}

/** The test passes unless the server is unreachable, fails, does not know the address or refuses the credential. */
export async function sendTestCall(
  ctx: Ctx,
  request: OutgoingRequest,
  { isPathNamed = false, secrets = [] }: { isPathNamed?: boolean; secrets?: readonly (string | null)[] } = {},
): Promise<ConnectionTestResult> {
  const mask = createSecretMask(secrets)
  // Without the query, which may have the secret.
  const checked = mask.text(`${request.method} ${request.url.origin}${request.url.pathname}`)
  try {
    const { status, body } = await sendOutgoing(ctx, request)
    const problem = describeBadStatus(checked, status, isPathNamed)
    if (problem === null) return { ok: true, checked, status, error: null }
    const words = findErrorWords(body)
    return { ok: false, checked, status, error: toReasonLine(mask, words === '' ? problem : `${problem}: ${words}`) }
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    // The server responded; the size of its response does not matter to the test.
    if (error.kind === 'too_large') return { ok: true, checked, status: error.status, error: null }
    return { ok: false, checked, status: error.status, error: error.message }
  }
}

/** OPTIONS of an address that only takes POST may be a 404, and a 405 is fine as well. */
function describeBadStatus(checked: string, status: number, isPathNamed: boolean): string | null {
  if (status === 401 || status === 403) return `upstream answered ${status}: it does not accept the secret`
  if (status === 404 && isPathNamed) return `${checked} answered 404: the address or the path of the test is wrong`
  if (status === 404 && checked.startsWith('GET '))
    return `the server was reached, but ${checked} answered 404: set config.test_path to a path that it has`
  if (status >= 500) return `${checked} answered ${status}`
  if (status >= 300 && status < 400)
    return `${checked} answered ${status}: redirects are not followed, use the final address`
  return null
}
