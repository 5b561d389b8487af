import { isClientOfProject } from '../../identity/organisations/project-client-rows.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { badRequest, conflict, notFound } from '../../platform/base/problem.ts'
import type { AuthorisationLink, Broker } from '../broker/broker.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { brokerUserId } from '../broker/broker-account.ts'
import { changeConnectionSettings, createConnectionInTx } from './connections.ts'
import { type Connection, findConnectionByName, updateConnectionIfUnchanged } from '../connection/rows.ts'

export interface ConnectToolkitRequest {
  toolkit: string
  clientId: string | null
  readTools: string[] | undefined
  callbackUrl: string | undefined
}

export interface StartedAuthorisation {
  connection: Connection
  isNew: boolean
  link: AuthorisationLink
}

/** Starts the authorisation of the toolkit's connection; creates the connection if the owner has none. */
export async function connectToolkit(
  ctx: Ctx,
  scope: ProjectScope,
  broker: Broker,
  request: ConnectToolkitRequest,
): Promise<StartedAuthorisation> {
  const { clientId, callbackUrl } = request
  if (clientId && !(await isClientOfProject(ctx.db, scope.projectId, clientId))) throw notFound('client')
  const { connection, isNew } = await findOrCreateToolkitConnection(ctx, scope, request)
  return { isNew, ...(await startAuthorisation(ctx, scope, broker, connection, callbackUrl)) }
}

/** Stores the new account as pending: a connected account stays in use until the broker reports the new one as ACTIVE. */
export async function startAuthorisation(
  ctx: Ctx,
  scope: ProjectScope,
  broker: Broker,
  connection: Connection,
  callbackUrl: string | undefined,
): Promise<Omit<StartedAuthorisation, 'isNew'>> {
  const toolkit = requireToolkit(connection)
  const link = await broker.createAuthorisationLink({ toolkit, userId: brokerUserId(connection), callbackUrl })
  const changes = { pending_account: link.accountId, updated_at: isoNow(ctx) }
  await inTx(ctx, async (tx) => {
    if (!(await updateConnectionIfUnchanged(tx.db, connection, changes))) {
      throw conflict('connection was changed at the same time: authorise it again')
    }
    const data = { name: connection.name, toolkit }
    await appendAuditEntry(tx, connection.project_id, scope.actor, 'connection.authorising', connection.id, data)
  })
  return { connection: { ...connection, ...changes }, link }
}

export function requireToolkit(connection: Connection): string {
  const { toolkit } = connection.config
  if (connection.kind !== 'broker') throw badRequest(`connection '${connection.name}' is not a broker connection`)
  if (typeof toolkit !== 'string' || toolkit === '') {
    throw badRequest(`connection '${connection.name}' has no toolkit in its config`)
  }
  return toolkit
}

async function findOrCreateToolkitConnection(
  ctx: Ctx,
  scope: ProjectScope,
  { toolkit, clientId, readTools }: ConnectToolkitRequest,
): Promise<{ connection: Connection; isNew: boolean }> {
  const config = { toolkit, read_tools: readTools ?? [] }
  const owner = clientId
    ? { owner_kind: 'client', owner_id: clientId }
    : { owner_kind: 'founder', owner_id: scope.projectId }
  const created = await inTx(ctx, (tx) =>
    createConnectionInTx(tx, scope, { kind: 'broker', name: toolkit, client_id: clientId, config }),
  )
  if (created) return { connection: created, isNew: true }
  const existing = await findConnectionByName(ctx.db, { project_id: scope.projectId, ...owner, name: toolkit })
  if (existing?.kind !== 'broker' || existing.config.toolkit !== toolkit) {
    throw conflict(`a connection named '${toolkit}' already exists for this owner`)
  }
  if (!readTools) return { connection: existing, isNew: false }
  const changes = { config: { ...existing.config, read_tools: readTools } }
  return { connection: await changeConnectionSettings(ctx, scope, existing, changes), isNew: false }
}
