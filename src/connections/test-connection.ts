import { appendAuditEntry } from '../audit/append.ts'
import { Problem } from '../base/problem.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { SecretUnavailable } from '../ctx/vault.ts'
import { refreshBrokerAccount } from './broker-account.ts'
import { createBroker } from '../broker/rest-client.ts'
import { EgressError, createEgressClient } from '../egress/http-client.ts'
import { authorizationHeader, requireConfigUrl } from './executors/http-request.ts'
import { recordConnectionHealth } from './health.ts'
import { CALL_TIMEOUT_MS, MAX_CALL_BYTES } from '../egress/limits.ts'
import type { Connection } from './rows.ts'
import { openSecret } from '../vault/secrets.ts'

export interface ConnectionTestResult {
  ok: boolean
  /** What was done to find out, without the path: some services keep a secret in it. */
  checked: string
  status: number | null
  error: string | null
}

/** One real call that changes nothing over there, and what it showed. */
export async function testConnection(
  ctx: Ctx,
  scope: ProjectScope,
  connection: Connection,
): Promise<ConnectionTestResult> {
  const trial = await attemptTest(ctx, connection)
  await recordConnectionHealth(ctx, connection, trial.error)
  await inTx(ctx, (tx) =>
    appendAuditEntry(tx, connection.project_id, scope.actor, 'connection.tested', connection.id, { ok: trial.ok }),
  )
  return trial
}

async function attemptTest(ctx: Ctx, connection: Connection): Promise<ConnectionTestResult> {
  try {
    return connection.kind === 'broker' ? await testBrokerAccount(ctx, connection) : await testAddress(ctx, connection)
  } catch (error) {
    if (error instanceof Problem || error instanceof SecretUnavailable || error instanceof EgressError) {
      return { ok: false, checked: 'config and secret', status: null, error: error.message }
    }
    throw error
  }
}

/** A read is harmless by definition; where only an address to act on is known, OPTIONS asks without doing. */
async function testAddress(ctx: Ctx, connection: Connection): Promise<ConnectionTestResult> {
  const reads = connection.kind === 'custom' && connection.config.base_url !== undefined
  const method = reads ? 'GET' : 'OPTIONS'
  const url = new URL(
    requireConfigUrl(connection, ...(reads ? ['base_url'] : connection.kind === 'webhook' ? ['url'] : ['api_url'])),
  )
  const secret = await openSecret(ctx, connection)
  const headers = connection.kind === 'webhook' ? {} : authorizationHeader({ connection, secret, capability: 'test' })
  const ask = { url, method, headers, timeoutMs: CALL_TIMEOUT_MS, maxBytes: MAX_CALL_BYTES }
  const checked = `${method} ${url.origin}`
  try {
    const { status } = await createEgressClient(ctx).request(ask)
    const error = describeBadStatus(status)
    return { ok: error === null, checked, status, error }
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    // Somebody is there and answers; how much is no matter.
    if (error.kind === 'too_large') return { ok: true, checked, status: error.status, error: null }
    return { ok: false, checked, status: error.status, error: error.message }
  }
}

async function testBrokerAccount(ctx: Ctx, connection: Connection): Promise<ConnectionTestResult> {
  const checked = 'status of the connected account'
  const broker = createBroker(ctx)
  if (!broker) return { ok: false, checked, status: null, error: 'broker is not configured: set BROKER_API_KEY' }
  const { active, status } = await refreshBrokerAccount(ctx, broker, connection)
  const error = active ? null : `the account is ${status}: authorise the toolkit first`
  return { ok: active, checked, status: null, error }
}

/** Whether the method is served there does not matter, only whether the secret is taken and the server is well. */
function describeBadStatus(status: number): string | null {
  if (status === 401 || status === 403) return `upstream answered ${status}: it does not accept the secret`
  if (status >= 500) return `upstream answered ${status}`
  if (status >= 300 && status < 400)
    return `upstream answered ${status}: redirects are not followed, name the final address`
  return null
}
