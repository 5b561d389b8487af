import { z } from 'zod'
import type { Ctx } from '../ctx/ctx.ts'
import { jsonObject } from '../http/validate.ts'
import { parseAllowedHosts } from '../egress/address-rules.ts'
import { connectedAccountId } from './broker-account.ts'
import { findUrlProblem } from '../egress/http-client.ts'
import { CONNECTION_KINDS } from './executors/executor-table.ts'
import type { Connection } from './rows.ts'
import { listConnectionsWithSecret } from '../vault/secrets.ts'

/** A connection as the API shows it: that there is a secret, never the secret nor its length. */
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

export async function toConnectionViews(ctx: Ctx, connections: Connection[]): Promise<object[]> {
  const secrets = await listConnectionsWithSecret(ctx, connections)
  return connections.map((connection) => viewOf(connection, secrets.has(connection.id)))
}

export async function toConnectionView(ctx: Ctx, connection: Connection): Promise<object> {
  const secrets = await listConnectionsWithSecret(ctx, [connection])
  return viewOf(connection, secrets.has(connection.id))
}

function viewOf(connection: Connection, hasSecret: boolean): object {
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
    status: connectionStatus(connection, hasSecret),
    last_ok_at: connection.last_ok_at,
    last_error: connection.last_error,
    last_error_at: connection.last_error_at,
    created_at: connection.created_at,
    updated_at: connection.updated_at,
  }
}

/** A webhook works unsigned, so it lacks nothing without a secret. */
function connectionStatus(connection: Connection, hasSecret: boolean): string {
  if (connection.kind === 'broker') return connectedAccountId(connection) ? 'connected' : 'needs_authorisation'
  return hasSecret || (connection.kind === 'webhook' && connection.secret_ref === null) ? 'connected' : 'needs_secret'
}

/** What will go wrong at use and can be seen now. Registration succeeds all the same: config is judged at use. */
export function findConfigWarnings(ctx: Ctx, { kind, config, pending_account }: Connection): string[] {
  const reach = parseAllowedHosts(ctx.config.egressAllow)
  const addresses = ['api_url', 'base_url', 'url'].flatMap((key) => {
    const url = config[key]
    if (typeof url !== 'string') return []
    const problem = findUrlProblem(reach, url)
    if (problem) return [`config.${key} will be refused: ${problem}`]
    return url.startsWith('http:') ? [`config.${key} is not https: the secret would travel unprotected`] : []
  })
  const needed = REQUIRED_CONFIG[kind]
  return [
    ...(needed && config[needed] === undefined ? [`config.${needed} is missing`] : []),
    ...addresses,
    ...(pending_account ? ['config.connected_account_id is taken over once the provider confirms it'] : []),
  ]
}

const REQUIRED_CONFIG: Record<string, string | undefined> = { email: 'api_url', webhook: 'url', broker: 'toolkit' }
