import { isClientOfProject } from '../../identity/organisations/project-client-rows.ts'
import { lockProject } from '../../identity/organisations/project-rows.ts'
import { countStoredBytes } from '../../identity/limits/storage-usage.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import type { JsonObject } from '../../platform/base/json.ts'
import { badRequest, conflict, notFound } from '../../platform/base/problem.ts'
import { isReplyPlace } from '../../platform/contract/wedge/declared-approvals.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope, Scope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import type { FindInput } from '../../platform/http/route.ts'
import { deleteUnusedSecret } from '../../identity/vault/rows.ts'
import { requireSecretRef, secretRefOf } from '../../identity/vault/secret-ref.ts'
import { allowedEnvNames } from '../../identity/vault/secrets.ts'
import { findExecutor } from '../executors/executor-table.ts'
import { isOtherOauthApp, parseAuthConfig } from '../auth/auth-config.ts'
import { keepIssuer } from '../auth/pinned-issuer.ts'
import { deleteTokens } from '../auth/token-store.ts'
import { deleteProgramFiles } from '../mcp/program-file-rows.ts'
import {
  type Connection,
  deleteConnection,
  findChannelOfConnection,
  findConnection,
  findConnectionByName,
  insertConnection,
  updateConnectionIfUnchanged,
} from '../connection/rows.ts'

/** The connection in a route's path; one outside the caller's projects is a 404 too. */
export async function requireConnectionInScope({ ctx, scope, params }: FindInput<Scope>): Promise<Connection> {
  const connection = await findConnection(ctx.db, params.id ?? '')
  if (!connection || !scope.projectIds.includes(connection.project_id)) throw notFound('connection')
  return connection
}

export interface NewConnection {
  kind: string
  name: string
  owner?: { kind: 'founder' | 'client'; id?: string | undefined } | undefined
  client_id?: string | null | undefined
  config?: JsonObject | undefined
  secret_ref?: string | null | undefined
}

export async function createConnection(ctx: Ctx, scope: ProjectScope, input: NewConnection): Promise<Connection> {
  return inTx(ctx, async (tx) => {
    const connection = await createConnectionInTx(tx, scope, input)
    if (!connection) throw nameTaken(input.name)
    return connection
  })
}

/** Null when the owner already has a connection of that name. */
export async function createConnectionInTx(
  tx: Tx,
  scope: ProjectScope,
  input: NewConnection,
): Promise<Connection | null> {
  refuseReplyPlace(input.name)
  if (input.secret_ref) requireSecretRef(input.secret_ref, await allowedEnvNames(tx, scope.projectId), null)
  findExecutor(input.kind)?.checkConfig?.(input.config ?? {})
  parseAuthConfig({ kind: input.kind, config: input.config ?? {} })
  const owner = await resolveOwner(tx, scope.projectId, input)
  const connection = { ...toNewConnection(tx, input), project_id: scope.projectId, ...owner }
  await lockProject(tx.db, scope.projectId)
  if (await findConnectionByName(tx.db, connection)) return null
  await insertConnection(tx.db, connection)
  const data = { name: input.name, kind: input.kind, owner: owner.owner_kind, owner_id: owner.owner_id }
  await appendAuditEntry(tx, scope.projectId, scope.actor, 'connection.created', connection.id, data)
  return connection
}

export interface ConnectionChanges {
  name?: string | undefined
  config?: JsonObject | undefined
  secret_ref?: string | null | undefined
}

export async function changeConnectionSettings(
  ctx: Ctx,
  scope: ProjectScope,
  connection: Connection,
  { name = connection.name, config: given, secret_ref = connection.secret_ref }: ConnectionChanges,
): Promise<Connection> {
  const config = given && keepIssuer(connection.config, given)
  if (name !== connection.name) refuseReplyPlace(name)
  if (secret_ref !== null)
    requireSecretRef(secret_ref, await allowedEnvNames(ctx, connection.project_id), connection.id)
  if (config) findExecutor(connection.kind)?.checkConfig?.(config)
  if (config) parseAuthConfig({ kind: connection.kind, config })
  const changes = {
    name,
    secret_ref,
    // What was found out about the earlier config says nothing about this one.
    ...(config && {
      ...keepBrokerAccount(connection, config),
      last_ok_at: null,
      last_error: null,
      last_error_at: null,
    }),
    updated_at: isoNow(ctx),
  }
  return inTx(ctx, async (tx) => {
    await lockProject(tx.db, connection.project_id)
    const sameName = await findConnectionByName(tx.db, { ...connection, name })
    if (sameName && sameName.id !== connection.id) throw nameTaken(name)
    if (!(await updateConnectionIfUnchanged(tx.db, connection, changes))) {
      throw conflict('connection was changed at the same time: read it again')
    }
    if (secret_ref !== connection.secret_ref) await deleteUnusedSecrets(tx, connection)
    // Tokens of one app must not be sent to the token endpoint of another.
    if (config && isOtherOauthApp(connection.config, config)) await deleteTokens(tx, connection)
    const changedFields = [
      config && 'config',
      name !== connection.name && 'name',
      secret_ref !== connection.secret_ref && 'secret_ref',
    ]
    const data = { fields: changedFields.filter((field) => typeof field === 'string') }
    await appendAuditEntry(tx, connection.project_id, scope.actor, 'connection.updated', connection.id, data)
    return { ...connection, ...changes }
  })
}

export async function removeConnection(ctx: Ctx, scope: ProjectScope, connection: Connection): Promise<void> {
  await inTx(ctx, async (tx) => {
    await lockProject(tx.db, connection.project_id)
    const current = await findConnection(tx.db, connection.id)
    await refuseIfUsedByChannel(tx, connection)
    if (!current || !(await deleteConnection(tx.db, current.id))) throw notFound('connection')
    countStoredBytes(tx, current.project_id, -(await deleteProgramFiles(tx.db, { connection_id: current.id })))
    await deleteUnusedSecrets(tx, current)
    await deleteTokens(tx, current)
    const data = { name: current.name, kind: current.kind }
    await appendAuditEntry(tx, current.project_id, scope.actor, 'connection.deleted', current.id, data)
  })
}

async function refuseIfUsedByChannel(tx: Tx, connection: Connection): Promise<void> {
  const channel = await findChannelOfConnection(tx.db, connection)
  if (!channel) return
  throw conflict(`connection is used by channel ${channel.id} (${channel.address}): delete the channel first`)
}

/** Deletes the secret that the connection referred to and the one under its id, unless another connection uses it. */
async function deleteUnusedSecrets(tx: Tx, previous: Connection): Promise<void> {
  const ref = secretRefOf(previous)
  const keys = ref.in === 'vault' ? [previous.id, ref.key] : [previous.id]
  for (const key of new Set(keys)) await deleteUnusedSecret(tx.db, previous.project_id, key)
}

/** A broker account id from the caller may belong to someone else, so it stays pending until the broker confirms it. */
function toNewConnection(tx: Tx, input: NewConnection): Omit<Connection, 'project_id' | 'owner_kind' | 'owner_id'> {
  const now = isoNow(tx)
  const { connected_account_id: claimed, ...config } = input.config ?? {}
  return {
    id: tx.world.newId('conn'),
    kind: input.kind,
    name: input.name,
    config: input.kind === 'broker' ? config : (input.config ?? {}),
    secret_ref: input.secret_ref ?? null,
    pending_account: input.kind === 'broker' && typeof claimed === 'string' ? claimed : null,
    last_ok_at: null,
    last_error: null,
    last_error_at: null,
    created_at: now,
    updated_at: now,
  }
}

/** Keeps the authorised account unless the toolkit changes: another toolkit needs its own authorisation. */
function keepBrokerAccount(connection: Connection, config: JsonObject): Pick<Connection, 'config' | 'pending_account'> {
  const { pending_account } = connection
  if (connection.kind !== 'broker') return { config, pending_account }
  const { connected_account_id: claimed, ...rest } = config
  const { connected_account_id: account, toolkit } = connection.config
  if (claimed !== undefined && claimed !== account) {
    throw badRequest("field 'config.connected_account_id' cannot be changed: authorise the toolkit instead")
  }
  if (rest.toolkit !== toolkit) return { config: rest, pending_account: null }
  return { config: account === undefined ? rest : { ...rest, connected_account_id: account }, pending_account }
}

async function resolveOwner(
  tx: Tx,
  projectId: string,
  { owner, client_id }: NewConnection,
): Promise<Pick<Connection, 'owner_kind' | 'owner_id'>> {
  const clientId = owner?.kind === 'client' ? owner.id : client_id
  if (owner?.kind === 'client' && !clientId) throw badRequest("field 'owner.id' is required")
  if (owner && client_id && (owner.kind !== 'client' || owner.id !== client_id)) {
    throw badRequest("fields 'owner' and 'client_id' name different owners")
  }
  if (!clientId) return { owner_kind: 'founder', owner_id: projectId }
  if (!(await isClientOfProject(tx.db, projectId, clientId))) throw notFound('client')
  return { owner_kind: 'client', owner_id: clientId }
}

/** A rule for the replies that are shown in the portal must not approve what a connection of that name sends. */
function refuseReplyPlace(name: string): void {
  if (isReplyPlace(name))
    throw badRequest(`field 'name' must not be '${name}': '${name.toLowerCase()}:reply' is a reply that is only shown`)
}

const nameTaken = (name: string) => conflict(`a connection named '${name}' already exists for this owner`)
