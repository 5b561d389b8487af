import { isJsonObject, type JsonObject } from '../../platform/base/json.ts'
import type { PageQuery } from '../../platform/http/page.ts'
import { listNewestOfProjects, matchColumns } from '../../platform/store/newest-page.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ChannelRow, ConnectionRow } from '../../platform/store/tables.ts'

/** A connection row with its config parsed. It refers to its secret and never contains it. */
export type Connection = Omit<ConnectionRow, 'config'> & { config: JsonObject }

export async function findConnection(db: Db, id: string): Promise<Connection | null> {
  const [row] = await connectionById(db, { id })
  return row ? toConnection(row) : null
}

const connectionById = prepareQuery<{ id: string }, ConnectionRow>((db, arg) =>
  db.selectFrom('connections').selectAll().where('id', '=', arg('id')),
)

export interface ConnectionFilter extends PageQuery {
  projectIds: readonly string[]
  kind?: string | undefined
  clientId?: string | undefined
}

export async function listConnections(db: Db, filter: ConnectionFilter): Promise<Connection[]> {
  const { projectIds, kind, clientId: owner_id } = filter
  const filters = matchColumns({ kind, owner_id, owner_kind: owner_id && 'client' })
  const connections = db.selectFrom('connections').selectAll()
  const rows = await listNewestOfProjects({
    projectIds,
    page: filter,
    rows: { query: connections, filters },
    searchIn: (projectId) => ({ query: connections.where('project_id', '=', projectId), filters }),
  })
  return rows.map(toConnection)
}

/** The founder's and this client's connections with one of the names; never those of another client. */
export async function listEntitledConnections(
  db: Db,
  filter: { projectId: string; clientId: string | null; names: readonly string[] },
): Promise<Connection[]> {
  if (filter.names.length === 0) return []
  const rows = await db
    .selectFrom('connections')
    .selectAll()
    .where('project_id', '=', filter.projectId)
    .where('name', 'in', filter.names)
    .where((eb) =>
      eb.or([
        eb('owner_kind', '=', 'founder'),
        eb.and([eb('owner_kind', '=', 'client'), eb('owner_id', '=', filter.clientId ?? '')]),
      ]),
    )
    .orderBy('id')
    .execute()
  return rows.map(toConnection)
}

/** The connections whose secret or tokens have one of these vault keys. */
export async function listConnectionsOfKeys(
  db: Db,
  projectIds: readonly string[],
  keys: readonly string[],
): Promise<Pick<ConnectionRow, 'id' | 'project_id' | 'name'>[]> {
  if (keys.length === 0) return []
  const ids = keys.map((key) => key.replace(/:tokens$/, ''))
  const refs = keys.map((key) => `vault:${key}`)
  return db
    .selectFrom('connections')
    .select(['id', 'project_id', 'name'])
    .where('project_id', 'in', projectIds)
    .where((eb) => eb.or([eb('id', 'in', ids), eb('secret_ref', 'in', refs)]))
    .orderBy('name')
    .execute()
}

export async function findConnectionByName(
  db: Db,
  owner: Pick<ConnectionRow, 'project_id' | 'owner_kind' | 'owner_id' | 'name'>,
): Promise<Connection | null> {
  const row = await db
    .selectFrom('connections')
    .selectAll()
    .where('project_id', '=', owner.project_id)
    .where('owner_kind', '=', owner.owner_kind)
    .where('owner_id', '=', owner.owner_id)
    .where('name', '=', owner.name)
    .executeTakeFirst()
  return row ? toConnection(row) : null
}

export async function insertConnection(db: Db, connection: Connection): Promise<void> {
  await db
    .insertInto('connections')
    .values({ ...connection, config: JSON.stringify(connection.config) })
    .execute()
}

type ConnectionUpdate = Partial<
  Pick<
    Connection,
    'name' | 'config' | 'secret_ref' | 'pending_account' | 'updated_at' | 'last_ok_at' | 'last_error' | 'last_error_at'
  >
>

/** False when the row has changed since it was read. */
export async function updateConnectionIfUnchanged(
  db: Db,
  was: Connection,
  changes: ConnectionUpdate,
): Promise<boolean> {
  const { config, ...rest } = changes
  const result = await db
    .updateTable('connections')
    .set(config ? { ...rest, config: JSON.stringify(config) } : rest)
    .where('id', '=', was.id)
    .where('updated_at', '=', was.updated_at)
    .where('config', '=', JSON.stringify(was.config))
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

export type ConnectionHealth = Partial<Pick<Connection, 'last_ok_at' | 'last_error' | 'last_error_at'>>

/** True for the one error that turns the connection from working to failing, also among concurrent errors. */
export async function updateHealthOnFirstError(db: Db, id: string, health: ConnectionHealth): Promise<boolean> {
  if (!health.last_error) return false
  const result = await db
    .updateTable('connections')
    .set(health)
    .where('id', '=', id)
    .where('last_error', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

export async function updateConnectionHealth(db: Db, id: string, health: ConnectionHealth): Promise<void> {
  await db.updateTable('connections').set(health).where('id', '=', id).execute()
}

/**
 * Other transactions that lock or delete the connection wait until this one ends. Returns its project; null: the connection
 * does not exist.
 */
export async function lockConnection(db: Db, id: string): Promise<string | null> {
  const query = db.updateTable('connections').set((row) => ({ updated_at: row.ref('updated_at') }))
  const row = await query.where('id', '=', id).returning('project_id').executeTakeFirst()
  return row?.project_id ?? null
}

/** Deletes the connection and its tools. */
export async function deleteConnection(db: Db, id: string): Promise<boolean> {
  await db.deleteFrom('connection_tools').where('connection_id', '=', id).execute()
  const result = await db.deleteFrom('connections').where('id', '=', id).executeTakeFirst()
  return result.numDeletedRows === 1n
}

/** The oldest channel that uses the connection. */
export function findChannelOfConnection(
  db: Db,
  { id, project_id }: Connection,
): Promise<Pick<ChannelRow, 'id' | 'address'> | undefined> {
  const query = db.selectFrom('channels').select(['id', 'address']).where('project_id', '=', project_id)
  return query.where('connection_id', '=', id).orderBy('id').limit(1).executeTakeFirst()
}

function toConnection(row: ConnectionRow): Connection {
  const config: unknown = JSON.parse(row.config)
  return { ...row, config: isJsonObject(config) ? config : {} }
}
