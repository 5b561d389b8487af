import { isJsonObject, type JsonObject } from '../base/json.ts'
import type { SecretEnvelope, SecretLocation } from '../ctx/vault.ts'
import type { PageQuery } from '../http/page.ts'
import { listNewestPage } from '../store/newest-page.ts'
import { prepareQuery } from '../store/prepared-query.ts'
import type { Db } from '../store/store.ts'
import type { ChannelRow, ConnectionRow, VaultRow } from '../store/tables.ts'

/** A connection as the features use it. It names its secret and never holds it. */
export type Connection = Omit<ConnectionRow, 'config'> & { config: JsonObject }

export type EncryptedSecret = Omit<VaultRow, 'envelope'> & { envelope: SecretEnvelope }

type SecretLocationColumns = Pick<VaultRow, 'project_id' | 'key' | 'connection_id' | 'kind'>

export function toSecretPlace({ project_id, key, connection_id, kind }: SecretLocationColumns): SecretLocation {
  return { projectId: project_id, key, connectionId: connection_id, kind }
}

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

export async function listConnections(db: Db, ask: ConnectionFilter): Promise<Connection[]> {
  let query = db.selectFrom('connections').selectAll().where('project_id', 'in', ask.projectIds)
  if (ask.kind) query = query.where('kind', '=', ask.kind)
  if (ask.clientId) query = query.where('owner_kind', '=', 'client').where('owner_id', '=', ask.clientId)
  const rows = await listNewestPage(query, ask)
  return rows.map(toConnection)
}

/** The founder's and the one client's connections among the names: nobody else's can come back. */
export async function listEntitledConnections(
  db: Db,
  ask: { projectId: string; clientId: string | null; names: readonly string[] },
): Promise<Connection[]> {
  if (ask.names.length === 0) return []
  const rows = await db
    .selectFrom('connections')
    .selectAll()
    .where('project_id', '=', ask.projectId)
    .where('name', 'in', ask.names)
    .where((has) =>
      has.or([
        has('owner_kind', '=', 'founder'),
        has.and([has('owner_kind', '=', 'client'), has('owner_id', '=', ask.clientId ?? '')]),
      ]),
    )
    .orderBy('id')
    .execute()
  return rows.map(toConnection)
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

/** Changes the row only while it is as it was read; false when somebody else was faster. */
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

/** Whether this is the error by which a connection turns from good to failing: of many at once, one is. */
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

export async function deleteConnection(db: Db, id: string): Promise<boolean> {
  const result = await db.deleteFrom('connections').where('id', '=', id).executeTakeFirst()
  return result.numDeletedRows === 1n
}

/** The oldest channel that is bound to the connection. */
export function findChannelOfConnection(
  db: Db,
  { id, project_id }: Connection,
): Promise<Pick<ChannelRow, 'id' | 'address'> | undefined> {
  const query = db.selectFrom('channels').select(['id', 'address']).where('project_id', '=', project_id)
  return query.where('connection_id', '=', id).orderBy('id').limit(1).executeTakeFirst()
}

export async function isClientOfProject(db: Db, projectId: string, clientId: string): Promise<boolean> {
  const row = await db
    .selectFrom('clients')
    .select('id')
    .where('project_id', '=', projectId)
    .where('id', '=', clientId)
    .executeTakeFirst()
  return row !== undefined
}

export async function findEncryptedSecret(db: Db, projectId: string, key: string): Promise<EncryptedSecret | null> {
  const [row] = await encryptedSecretByKey(db, { projectId, key })
  return row ? toEncryptedSecret(row) : null
}

const encryptedSecretByKey = prepareQuery<{ projectId: string; key: string }, VaultRow>((db, arg) =>
  db.selectFrom('vault').selectAll().where('project_id', '=', arg('projectId')).where('key', '=', arg('key')),
)

/** The sealing keys' fingerprints by `project key`, for lists. */
export async function listSecretKeyIds(
  db: Db,
  places: { projectId: string; key: string }[],
): Promise<Map<string, string>> {
  if (places.length === 0) return new Map()
  const rows = await db
    .selectFrom('vault')
    .select(['project_id', 'key', 'envelope'])
    .where('project_id', 'in', [...new Set(places.map((place) => place.projectId))])
    .where('key', 'in', [...new Set(places.map((place) => place.key))])
    .execute()
  return new Map(rows.map((row) => [`${row.project_id} ${row.key}`, parseEnvelope(row.envelope).kid]))
}

export async function upsertEncryptedSecret(db: Db, secret: EncryptedSecret): Promise<void> {
  const row = { ...secret, envelope: JSON.stringify(secret.envelope) }
  const { project_id: _project, key: _key, ...rest } = row
  await db
    .insertInto('vault')
    .values(row)
    .onConflict((clash) => clash.columns(['project_id', 'key']).doUpdateSet(rest))
    .execute()
}

export async function listEncryptedSecrets(db: Db): Promise<EncryptedSecret[]> {
  const rows = await db.selectFrom('vault').selectAll().orderBy('project_id').orderBy('key').execute()
  return rows.map(toEncryptedSecret)
}

/** Drops a sealed secret that no connection refers to any more. */
export async function deleteUnusedSecret(db: Db, projectId: string, key: string): Promise<void> {
  await db
    .deleteFrom('vault')
    .where('project_id', '=', projectId)
    .where('key', '=', key)
    .where((has) =>
      has.not(
        has.exists(
          has
            .selectFrom('connections')
            .select('connections.id')
            .where('connections.project_id', '=', projectId)
            .where((or) =>
              or.or([
                or('connections.secret_ref', '=', `vault:${key}`),
                or.and([or('connections.id', '=', key), or('connections.secret_ref', 'is', null)]),
              ]),
            ),
        ),
      ),
    )
    .execute()
}

function toConnection(row: ConnectionRow): Connection {
  const config: unknown = JSON.parse(row.config)
  return { ...row, config: isJsonObject(config) ? config : {} }
}

const toEncryptedSecret = (row: VaultRow): EncryptedSecret => ({ ...row, envelope: parseEnvelope(row.envelope) })

function parseEnvelope(text: string): SecretEnvelope {
  const envelope: Partial<SecretEnvelope> = JSON.parse(text)
  const { kid = '', iv = '', tag = '', ct = '' } = envelope
  return { v: 1, kid, iv, tag, ct }
}
