import { lockProject } from '../accounts/project-rows.ts'
import { appendAuditEntry } from '../audit/append.ts'
import type { JsonObject } from '../base/json.ts'
import { badRequest, conflict, notFound } from '../base/problem.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import {
  type Connection,
  updateConnectionIfUnchanged,
  findChannelOfConnection,
  isClientOfProject,
  deleteConnection,
  deleteUnusedSecret,
  findConnectionByName,
  findConnection,
  insertConnection,
} from './rows.ts'
import { secretRefOf, requireSecretRef } from '../vault/secret-ref.ts'
import { allowedEnvNames } from '../vault/secrets.ts'

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

/** Registers a connection in the caller's transaction; null when its owner has one of that name. */
export async function createConnectionInTx(
  tx: Tx,
  scope: ProjectScope,
  input: NewConnection,
): Promise<Connection | null> {
  if (input.secret_ref) requireSecretRef(input.secret_ref, await allowedEnvNames(tx, scope.projectId), null)
  const owner = await resolveOwner(tx, scope.projectId, input)
  const connection = { ...toNewConnection(tx, input), project_id: scope.projectId, ...owner }
  await lockProject(tx.db, scope.projectId)
  if (await findConnectionByName(tx.db, connection)) return null
  await insertConnection(tx.db, connection)
  const told = { name: input.name, kind: input.kind, owner: owner.owner_kind, owner_id: owner.owner_id }
  await appendAuditEntry(tx, scope.projectId, scope.actor, 'connection.created', connection.id, told)
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
  { name = connection.name, config, secret_ref = connection.secret_ref }: ConnectionChanges,
): Promise<Connection> {
  if (secret_ref !== null)
    requireSecretRef(secret_ref, await allowedEnvNames(ctx, connection.project_id), connection.id)
  const changes = {
    name,
    secret_ref,
    ...(config ? keepBrokerAccount(connection, config) : {}),
    updated_at: isoNow(ctx),
  }
  return inTx(ctx, async (tx) => {
    await lockProject(tx.db, connection.project_id)
    const named = await findConnectionByName(tx.db, { ...connection, name })
    if (named && named.id !== connection.id) throw nameTaken(name)
    if (!(await updateConnectionIfUnchanged(tx.db, connection, changes))) {
      throw conflict('connection was changed at the same time: read it again')
    }
    if (secret_ref !== connection.secret_ref) await deleteUnusedSecrets(tx, connection)
    const changed = [
      config && 'config',
      name !== connection.name && 'name',
      secret_ref !== connection.secret_ref && 'secret_ref',
    ]
    const told = { fields: changed.filter((field) => typeof field === 'string') }
    await appendAuditEntry(tx, connection.project_id, scope.actor, 'connection.updated', connection.id, told)
    return { ...connection, ...changes }
  })
}

export async function removeConnection(ctx: Ctx, scope: ProjectScope, connection: Connection): Promise<void> {
  await inTx(ctx, async (tx) => {
    await lockProject(tx.db, connection.project_id)
    const now = await findConnection(tx.db, connection.id)
    await refuseIfUsedByChannel(tx, connection)
    if (!now || !(await deleteConnection(tx.db, now.id))) throw notFound('connection')
    await deleteUnusedSecrets(tx, now)
    const told = { name: now.name, kind: now.kind }
    await appendAuditEntry(tx, now.project_id, scope.actor, 'connection.deleted', now.id, told)
  })
}

/** A channel names its connection for as long as it is there. */
async function refuseIfUsedByChannel(tx: Tx, connection: Connection): Promise<void> {
  const channel = await findChannelOfConnection(tx.db, connection)
  if (!channel) return
  throw conflict(`connection is used by channel ${channel.id} (${channel.address}): delete the channel first`)
}

/** What the connection referred to, and what lies under its own id, unless a connection still refers to it. */
async function deleteUnusedSecrets(tx: Tx, was: Connection): Promise<void> {
  const ref = secretRefOf(was)
  const keys = ref.in === 'vault' ? [was.id, ref.key] : [was.id]
  for (const key of new Set(keys)) await deleteUnusedSecret(tx.db, was.project_id, key)
}

/** An account is taken over from the provider and never from a caller, who could name somebody else's. */
function toNewConnection(tx: Tx, input: NewConnection): Omit<Connection, 'project_id' | 'owner_kind' | 'owner_id'> {
  const now = isoNow(tx)
  const { connected_account_id: claimed, ...config } = input.config ?? {}
  return {
    id: tx.world.newId('conn'),
    kind: input.kind,
    name: input.name,
    config: input.kind === 'broker' ? config : (input.config ?? {}),
    secret_ref: input.secret_ref ?? null,
    // Proven with the provider, as ours and ACTIVE, before anything runs on it.
    pending_account: input.kind === 'broker' && typeof claimed === 'string' ? claimed : null,
    last_ok_at: null,
    last_error: null,
    last_error_at: null,
    created_at: now,
    updated_at: now,
  }
}

/** The account stays with the toolkit it was authorised for; another toolkit needs an authorisation of its own. */
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

const nameTaken = (name: string) => conflict(`a connection named '${name}' already exists for this owner`)
