import { audit } from '../audit/append.ts'
import { badRequest, conflict, notFound } from '../base/problem.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { brokerUser } from './accounts.ts'
import type { Broker, Link } from './broker.ts'
import { addConnection, updateConnection } from './connections.ts'
import { type Connection, changeConnection, clientExists, findByName } from './rows.ts'

export interface ConnectAsk {
  toolkit: string
  clientId: string | null
  readTools: string[] | undefined
  callbackUrl: string | undefined
}

export interface Begun {
  connection: Connection
  isNew: boolean
  link: Link
}

/** Makes the toolkit's connection, or takes the one that is there, and begins its authorisation. */
export async function connectToolkit(ctx: Ctx, scope: ProjectScope, broker: Broker, ask: ConnectAsk): Promise<Begun> {
  if (ask.clientId && !(await clientExists(ctx.db, scope.projectId, ask.clientId))) throw notFound('client')
  const { connection, isNew } = await toolkitConnection(ctx, scope, ask)
  return { isNew, ...(await beginAuthorisation(ctx, scope, broker, connection, ask.callbackUrl)) }
}

/** The account that was begun is kept aside until the provider says that it is ACTIVE. */
export async function beginAuthorisation(
  ctx: Ctx,
  scope: ProjectScope,
  broker: Broker,
  connection: Connection,
  callbackUrl: string | undefined,
): Promise<Omit<Begun, 'isNew'>> {
  const link = await broker.link({ toolkit: requireToolkit(connection), userId: brokerUser(connection), callbackUrl })
  const changes = { pending_account: link.accountId, updated_at: isoNow(ctx) }
  await inTx(ctx, async (tx) => {
    if (!(await changeConnection(tx.db, connection, changes))) {
      throw conflict('connection was changed at the same time: authorise it again')
    }
    const told = { name: connection.name, toolkit: requireToolkit(connection) }
    await audit(tx, connection.project_id, scope.actor, 'connection.authorising', connection.id, told)
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

async function toolkitConnection(
  ctx: Ctx,
  scope: ProjectScope,
  { toolkit, clientId, readTools }: ConnectAsk,
): Promise<{ connection: Connection; isNew: boolean }> {
  const config = { toolkit, read_tools: readTools ?? [] }
  const owner = clientId
    ? { owner_kind: 'client', owner_id: clientId }
    : { owner_kind: 'founder', owner_id: scope.projectId }
  const made = await inTx(ctx, (tx) =>
    addConnection(tx, scope, { kind: 'broker', name: toolkit, client_id: clientId, config }),
  )
  if (made) return { connection: made, isNew: true }
  const known = await findByName(ctx.db, { project_id: scope.projectId, ...owner, name: toolkit })
  if (known?.kind !== 'broker' || known.config.toolkit !== toolkit) {
    throw conflict(`a connection named '${toolkit}' already exists for this owner`)
  }
  if (!readTools) return { connection: known, isNew: false }
  const changes = { config: { ...known.config, read_tools: readTools } }
  return { connection: await updateConnection(ctx, scope, known, changes), isNew: false }
}
