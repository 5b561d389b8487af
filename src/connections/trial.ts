import { audit } from '../audit/append.ts'
import { Problem } from '../base/problem.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { SecretUnavailable } from '../ctx/vault.ts'
import { accountStatus } from './accounts.ts'
import { brokerOf } from './broker-rest.ts'
import { EgressError, egress } from './egress.ts'
import { bearer, configUrl } from './executors/http.ts'
import { noteHealth } from './health.ts'
import { CALL_TIMEOUT_MS, MOST_BYTES } from './limits.ts'
import type { Connection } from './rows.ts'
import { openSecret } from './secrets.ts'

export interface Trial {
  ok: boolean
  /** What was done to find out, without the path: some services keep a secret in it. */
  checked: string
  status: number | null
  error: string | null
}

/** One real call that changes nothing over there, and what it showed. */
export async function tryConnection(ctx: Ctx, scope: ProjectScope, connection: Connection): Promise<Trial> {
  const trial = await attempt(ctx, connection)
  await noteHealth(ctx, connection, trial.error)
  await inTx(ctx, (tx) =>
    audit(tx, connection.project_id, scope.actor, 'connection.tested', connection.id, { ok: trial.ok }),
  )
  return trial
}

async function attempt(ctx: Ctx, connection: Connection): Promise<Trial> {
  try {
    return connection.kind === 'broker' ? await tryAccount(ctx, connection) : await tryAddress(ctx, connection)
  } catch (error) {
    if (error instanceof Problem || error instanceof SecretUnavailable || error instanceof EgressError) {
      return { ok: false, checked: 'config and secret', status: null, error: error.message }
    }
    throw error
  }
}

/** A read is harmless by definition; where only an address to act on is known, OPTIONS asks without doing. */
async function tryAddress(ctx: Ctx, connection: Connection): Promise<Trial> {
  const reads = connection.kind === 'custom' && connection.config.base_url !== undefined
  const method = reads ? 'GET' : 'OPTIONS'
  const url = new URL(
    configUrl(connection, ...(reads ? ['base_url'] : connection.kind === 'webhook' ? ['url'] : ['api_url'])),
  )
  const secret = await openSecret(ctx, connection)
  const headers = connection.kind === 'webhook' ? {} : bearer({ connection, secret, capability: 'test' })
  const ask = { url, method, headers, timeoutMs: CALL_TIMEOUT_MS, maxBytes: MOST_BYTES }
  const checked = `${method} ${url.origin}`
  try {
    const { status } = await egress(ctx).request(ask)
    const error = complaint(status)
    return { ok: error === null, checked, status, error }
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    // Somebody is there and answers; how much is no matter.
    if (error.kind === 'too_large') return { ok: true, checked, status: error.status, error: null }
    return { ok: false, checked, status: error.status, error: error.message }
  }
}

async function tryAccount(ctx: Ctx, connection: Connection): Promise<Trial> {
  const checked = 'status of the connected account'
  const broker = brokerOf(ctx)
  if (!broker) return { ok: false, checked, status: null, error: 'broker is not configured: set BROKER_API_KEY' }
  const { active, status } = await accountStatus(ctx, broker, connection)
  const error = active ? null : `the account is ${status}: authorise the toolkit first`
  return { ok: active, checked, status: null, error }
}

/** Whether the method is served there does not matter, only whether the secret is taken and the server is well. */
function complaint(status: number): string | null {
  if (status === 401 || status === 403) return `upstream answered ${status}: it does not accept the secret`
  if (status >= 500) return `upstream answered ${status}`
  if (status >= 300 && status < 400)
    return `upstream answered ${status}: redirects are not followed, name the final address`
  return null
}
