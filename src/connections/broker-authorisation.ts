import { appendAuditEntry } from '../audit/append.ts'
import { badRequest, conflict, notFound } from '../base/problem.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { brokerUserId } from './broker-account.ts'
import type { Broker, AuthorisationLink } from '../broker/broker.ts'
import { createConnectionInTx, changeConnectionSettings } from './connections.ts'
import { type Connection, updateConnectionIfUnchanged, isClientOfProject, findConnectionByName } from './rows.ts'

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

/** Makes the toolkit's connection, or takes the one that is there, and begins its authorisation. */
export async function connectToolkit(
  ctx: Ctx,
  scope: ProjectScope,
  broker: Broker,
  ask: ConnectToolkitRequest,
): Promise<StartedAuthorisation> {
  if (ask.clientId && !(await isClientOfProject(ctx.db, scope.projectId, ask.clientId))) throw notFound('client')
  const { connection, isNew } = await findOrCreateToolkitConnection(ctx, scope, ask)
  return { isNew, ...(await startAuthorisation(ctx, scope, broker, connection, ask.callbackUrl)) }
}

/** The account that was begun is kept aside until the provider says that it is ACTIVE. */
export async function startAuthorisation(
  ctx: Ctx,
  scope: ProjectScope,
  broker: Broker,
  connection: Connection,
  callbackUrl: string | undefined,
): Promise<Omit<StartedAuthorisation, 'isNew'>> {
  const link = await broker.link({ toolkit: requireToolkit(connection), userId: brokerUserId(connection), callbackUrl })
  const changes = { pending_account: link.accountId, updated_at: isoNow(ctx) }
  await inTx(ctx, async (tx) => {
    if (!(await updateConnectionIfUnchanged(tx.db, connection, changes))) {
      throw conflict('connection was changed at the same time: authorise it again')
    }
    const told = { name: connection.name, toolkit: requireToolkit(connection) }
    await appendAuditEntry(tx, connection.project_id, scope.actor, 'connection.authorising', connection.id, told)
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
  const made = await inTx(ctx, (tx) =>
    createConnectionInTx(tx, scope, { kind: 'broker', name: toolkit, client_id: clientId, config }),
  )
  if (made) return { connection: made, isNew: true }
  const known = await findConnectionByName(ctx.db, { project_id: scope.projectId, ...owner, name: toolkit })
  if (known?.kind !== 'broker' || known.config.toolkit !== toolkit) {
    throw conflict(`a connection named '${toolkit}' already exists for this owner`)
  }
  if (!readTools) return { connection: known, isNew: false }
  const changes = { config: { ...known.config, read_tools: readTools } }
  return { connection: await changeConnectionSettings(ctx, scope, known, changes), isNew: false }
}
