import type { BriefConnection, BriefTool } from '../../platform/contract/agent-protocol.ts'
import { badRequest, notFound } from '../../platform/base/problem.ts'
import { connectionNames, narrowedTools, type WedgeManifest } from '../../platform/contract/wedge/wedge-manifest.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { Db } from '../../platform/store/store.ts'
import { needsAuthorisation } from '../auth/auth-config.ts'
import { listAuthorisedConnections } from '../auth/token-store.ts'
import { connectedAccountId } from '../broker/broker-account.ts'
import { type Connection, listEntitledConnections } from '../connection/rows.ts'
import { listConnectionTools } from './connection-tools.ts'
import { needsNoCredential } from '../executors/executor-table.ts'
import { capabilityOf, type ConnectionTool, toolNameIn } from '../connection/tool.ts'
import { listConnectionsWithSecret } from '../../identity/vault/secrets.ts'

/** The connections that one run may use, one for each name that the wedge declares. */
export interface Grant {
  declared: readonly string[]
  connections: Connection[]
  /** The only tools of a connection that the wedge may use, by the connection's name; without an entry, all. */
  narrowed: ReadonlyMap<string, readonly string[]>
}

export interface GrantRequest {
  projectId: string
  clientId: string | null
  manifest: Pick<WedgeManifest, 'connections'>
}

/** The declared connections of the founder and of the run's client; of two with one name the client's is used. */
export async function resolveGrant(db: Db, { projectId, clientId, manifest }: GrantRequest): Promise<Grant> {
  const entitled = await listEntitledConnections(db, { projectId, clientId, names: connectionNames(manifest) })
  const byName = new Map<string, Connection>()
  for (const connection of entitled) {
    if (connection.owner_kind === 'client' || !byName.has(connection.name)) byName.set(connection.name, connection)
  }
  return {
    declared: connectionNames(manifest),
    connections: [...byName.values()],
    narrowed: narrowedTools(manifest),
  }
}

/** The granted connection for an action: the named one, or else the only one that serves the capability. */
export function pickConnection(grant: Grant, capability: string, name?: string): Connection {
  if (name !== undefined) {
    const named = grant.connections.find((connection) => connection.name === name)
    if (!named) throw notFound('connection')
    refuseMismatchedCapability(grant, named, capability)
    if (!isGranted(grant, named, capability)) throw badRequest(`the wedge does not grant '${capability}'`)
    return named
  }
  const [only, ...others] = grant.connections.filter(
    (connection) => canServe(connection, capability) && isGranted(grant, connection, capability),
  )
  if (!only) throw badRequest(`no granted connection serves '${capability}': name one in 'connection'`)
  if (others.length > 0) throw badRequest(`more than one connection serves '${capability}': name one in 'connection'`)
  return only
}

/**
 * Policy rules and approvers know an action by its capability. So a capability that names a connection is sent through
 * that connection only, and a broker connection runs tools of its toolkit only.
 */
function refuseMismatchedCapability(grant: Grant, connection: Connection, capability: string): void {
  const isOwnTool = hasTool(connection, capability)
  if (connection.kind === 'broker' && !isOwnTool) {
    throw badRequest(`'${capability}' is not a tool of the toolkit of connection '${connection.name}'`)
  }
  const [meant = connection.name] = grant.declared
    .filter((name) => isNamed(name, capability))
    .toSorted((a, b) => b.length - a.length)
  const other = isOwnTool ? undefined : grant.connections.find((one) => hasTool(one, capability))
  if (other || !sameName(meant, connection.name)) {
    throw badRequest(`'${capability}' names connection '${other?.name ?? meant}', not '${connection.name}'`)
  }
}

/** Names of declared connections that are not registered or lack their secret or account. */
export async function listMissingConnections(
  ctx: Ctx,
  manifest: Pick<WedgeManifest, 'connections'>,
  projectId: string,
  clientId: string | null,
): Promise<string[]> {
  const { connections } = await resolveGrant(ctx.db, { projectId, clientId, manifest })
  const secrets = await listConnectionsWithSecret(ctx, connections)
  const authorised = await listAuthorisedConnections(ctx, connections)
  const ready = connections.filter((connection) =>
    needsAuthorisation(connection) ? authorised.has(connection.id) : isReady(connection, secrets.has(connection.id)),
  )
  const names = new Set(ready.map((connection) => connection.name))
  return connectionNames(manifest).filter((name) => !names.has(name))
}

/** A broker connection needs an authorised account, every other one its secret. A webhook must be signed to be ready. */
function isReady(connection: Connection, hasSecret: boolean): boolean {
  if (connection.kind === 'broker') return connectedAccountId(connection) !== null
  return hasSecret || (connection.kind !== 'webhook' && needsNoCredential(connection))
}

/** What the agent learns about its connections: names, kinds and tools, no addresses and no secrets. */
export function toBriefConnections(ctx: Ctx, grant: Grant): Promise<BriefConnection[]> {
  return Promise.all(
    grant.connections.map(async (connection) => {
      const { name, kind, config } = connection
      const tools = await listGrantedTools(ctx, grant, connection)
      return {
        name,
        kind,
        ...(typeof config.toolkit === 'string' ? { toolkit: config.toolkit } : {}),
        ...(kind === 'broker' ? { read_tools: readTools(config.read_tools) } : {}),
        ...(tools && { tools: tools.map((tool) => toBriefTool(connection, tool)) }),
      }
    }),
  )
}

/** The tools of a connection that the run may call; null if the connection has no tools by name. */
export async function listGrantedTools(
  ctx: Ctx,
  grant: Grant,
  connection: Connection,
): Promise<ConnectionTool[] | null> {
  const tools = await listConnectionTools(ctx, connection)
  return tools && tools.filter((tool) => tool.class !== 'off' && isGrantedTool(grant, connection, tool.name))
}

const toBriefTool = (connection: Connection, tool: ConnectionTool): BriefTool => ({
  name: tool.name,
  capability: capabilityOf(connection, tool.name),
  description: tool.description,
  input_schema: tool.inputSchema,
  class: tool.class === 'read' ? 'read' : 'ask',
})

const isGrantedTool = ({ narrowed }: Grant, { name }: Connection, tool: string | null): boolean => {
  const only = narrowed.get(name)
  return only === undefined || (tool !== null && only.includes(tool))
}

const isGranted = (grant: Grant, connection: Connection, capability: string): boolean =>
  isGrantedTool(grant, connection, toolNameIn(connection, capability))

const canServe = (connection: Connection, capability: string): boolean =>
  isNamed(connection.name, capability) || hasTool(connection, capability)

function hasTool({ kind, config }: Connection, capability: string): boolean {
  if (kind !== 'broker' || typeof config.toolkit !== 'string') return false
  return capability.toLowerCase().startsWith(`${config.toolkit.toLowerCase().replaceAll('-', '_')}_`)
}

const isNamed = (name: string, capability: string): boolean =>
  sameName(name, capability) || capability.toLowerCase().startsWith(`${name.toLowerCase()}:`)

/** Policy rules ignore case too. */
const sameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

const readTools = (tools: unknown): string[] =>
  Array.isArray(tools) ? tools.filter((tool) => typeof tool === 'string') : []
