import { z } from 'zod'
import { isJsonObject } from '../../platform/base/json.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { findUrlProblem } from '../../platform/egress/http-client.ts'
import { jsonObject } from '../../platform/http/validate.ts'
import { listConnectionsWithSecret } from '../../identity/vault/secrets.ts'
import { needsAuthorisation } from '../auth/auth-config.ts'
import { listAuthorisedConnections } from '../auth/token-store.ts'
import { connectedAccountId } from '../broker/broker-account.ts'
import { CONNECTION_KINDS, findExecutor, needsNoCredential } from '../executors/executor-table.ts'
import type { Connection } from '../connection/rows.ts'

/** Shows whether a secret exists, never its value or length. */
export const ConnectionView = z
  .object({
    id: z.string(),
    project_id: z.string(),
    kind: z.enum(CONNECTION_KINDS),
    name: z.string(),
    owner: z.object({ kind: z.enum(['founder', 'client']), id: z.string() }),
    client_id: z.string().nullable(),
    config: jsonObject,
    secret_ref: z.string().nullable(),
    has_secret: z.boolean(),
    status: z.enum(['connected', 'needs_secret', 'needs_authorisation']),
    last_ok_at: z.string().nullable(),
    last_error: z.string().nullable(),
    last_error_at: z.string().nullable(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Connection' })

export const ConnectionWithWarningsView = ConnectionView.extend({ warnings: z.array(z.string()) }).meta({
  id: 'ConnectionWithWarnings',
})

export const ConnectionTestView = z
  .object({
    ok: z.boolean(),
    checked: z.string(),
    status: z.number().nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'ConnectionTest' })

export async function toConnectionViews(ctx: Ctx, connections: Connection[]): Promise<object[]> {
  const secrets = await listConnectionsWithSecret(ctx, connections)
  const statuses = await readConnectionStatuses(ctx, connections, secrets)
  return connections.map((connection, n) => combineView(connection, secrets.has(connection.id), statuses[n]))
}

export async function toConnectionView(ctx: Ctx, connection: Connection): Promise<object> {
  const [view = {}] = await toConnectionViews(ctx, [connection])
  return view
}

function combineView(connection: Connection, hasSecret: boolean, status: ConnectionStatus | undefined): object {
  const { id, project_id, kind, name, owner_kind, owner_id, config, secret_ref } = connection
  return {
    id,
    project_id,
    kind,
    name,
    owner: { kind: owner_kind, id: owner_id },
    client_id: owner_kind === 'client' ? owner_id : null,
    config,
    secret_ref,
    has_secret: hasSecret,
    status,
    last_ok_at: connection.last_ok_at,
    last_error: connection.last_error,
    last_error_at: connection.last_error_at,
    created_at: connection.created_at,
    updated_at: connection.updated_at,
  }
}

type ConnectionStatus = z.output<typeof ConnectionView>['status']

/** Whether each connection has what it needs to work, in the order of the connections. */
async function readConnectionStatuses(
  ctx: Ctx,
  connections: Connection[],
  secrets: Set<string>,
): Promise<ConnectionStatus[]> {
  const authorised = await listAuthorisedConnections(ctx, connections)
  return connections.map((connection) => {
    const credential = findExecutor(connection.kind)?.credential ?? 'secret'
    const isAuthorised =
      credential === 'broker_account' ? connectedAccountId(connection) !== null : authorised.has(connection.id)
    if (credential === 'broker_account' || needsAuthorisation(connection)) {
      return isAuthorised ? 'connected' : 'needs_authorisation'
    }
    return secrets.has(connection.id) || needsNoCredential(connection) ? 'connected' : 'needs_secret'
  })
}

export const ConnectionHealthView = z
  .object({
    status: z.enum(['ok', 'failing', 'not_connected']),
    checked_at: z.string().nullable(),
    message: z.string().nullable(),
  })
  .meta({ id: 'ConnectionHealth' })

const MISSING_CREDENTIAL = {
  needs_secret: 'the connection has no secret yet: write one',
  needs_authorisation: 'the connection is not authorised yet: connect the account',
}

/** The result of the last use or test; a connection that was never used and has its credential counts as ok. */
export async function toConnectionHealthView(ctx: Ctx, connection: Connection): Promise<object> {
  const { last_error, last_error_at, last_ok_at } = connection
  if (last_error !== null) return { status: 'failing', checked_at: last_error_at, message: last_error }
  const secrets = await listConnectionsWithSecret(ctx, [connection])
  const [status = 'needs_secret'] = await readConnectionStatuses(ctx, [connection], secrets)
  if (status === 'connected') return { status: 'ok', checked_at: last_ok_at, message: null }
  return { status: 'not_connected', checked_at: last_ok_at, message: MISSING_CREDENTIAL[status] }
}

/** Problems that will make the connection fail when it is used. Registration succeeds anyway. */
export function findConfigWarnings(ctx: Ctx, { kind, config, pending_account }: Connection): string[] {
  const executor = findExecutor(kind)
  const [required, ...alternatives] = executor?.requiredConfig ?? []
  const isMissing = required !== undefined && alternatives.length === 0 && config[required] === undefined
  const missing = executor?.findMissingConfig?.(config) ?? (isMissing ? [required] : [])
  return [
    ...missing.map((key) => `config.${key} is missing`),
    ...findUrlWarnings(ctx, config),
    ...findCurrencyWarnings(config),
    ...(pending_account ? ['config.connected_account_id is set once the provider confirms it'] : []),
  ]
}

/** A preset cannot know the currency of the account, and limits in dollars are compared with it. */
function findCurrencyWarnings({ preset, operations }: Connection['config']): string[] {
  if (typeof preset !== 'string' || !Array.isArray(operations)) return []
  const amounts = operations.flatMap((one) => (isJsonObject(one) && isJsonObject(one.amount) ? [one.amount] : []))
  const currencies = new Set(amounts.flatMap(({ currency }) => (typeof currency === 'string' ? [currency] : [])))
  return [...currencies].map((currency) => `amounts are read as ${currency}: is this the currency of the account?`)
}

function findUrlWarnings(ctx: Ctx, config: Connection['config']): string[] {
  const { auth } = config
  const urls = {
    api_url: config.api_url,
    base_url: config.base_url,
    url: config.url,
    'auth.token_url': isJsonObject(auth) ? auth.token_url : null,
  }
  return Object.entries(urls).flatMap(([key, url]) => {
    if (typeof url !== 'string') return []
    const problem = findUrlProblem(ctx.config.egressAllow, url)
    if (problem) return [`config.${key} will be refused: ${problem}`]
    return url.startsWith('http:') ? [`config.${key} is not https: the secret would be sent unencrypted`] : []
  })
}

export const OauthStartView = z.object({ authorize_url: z.string() }).meta({ id: 'OauthStart' })

export const ToolkitView = z
  .object({ slug: z.string(), name: z.string(), description: z.string().nullable() })
  .meta({ id: 'Toolkit' })

export const AuthorisationView = z
  .object({
    connection_id: z.string(),
    redirect_url: z.string().nullable(),
    expires_at: z.string().nullable(),
    status: z.string(),
  })
  .meta({ id: 'Authorisation' })

export const BrokerAccountView = z.object({ status: z.string(), active: z.boolean() })
