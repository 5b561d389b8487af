import { type SqlBool, sql } from 'kysely'
import type { JsonObject } from '../../platform/base/json.ts'
import type { PageQuery } from '../../platform/http/page.ts'
import { listNewestOfProjects } from '../../platform/store/newest-page.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ClientHandleRow, ClientRow } from '../../platform/store/tables.ts'

/** A client with its parsed metadata and its handles, spelled as they were given. */
export type ClientWithHandles = Omit<ClientRow, 'metadata'> & { metadata: JsonObject; handles: string[] }

export async function insertClient(db: Db, client: ClientWithHandles): Promise<void> {
  const { id, project_id, display_name, created_at, updated_at } = client
  const metadata = JSON.stringify(client.metadata)
  await db.insertInto('clients').values({ id, project_id, display_name, metadata, created_at, updated_at }).execute()
}

export async function findClient(
  db: Db,
  projectIds: readonly string[],
  id: string,
): Promise<ClientWithHandles | undefined> {
  const query = db.selectFrom('clients').selectAll().where('project_id', 'in', projectIds).where('id', '=', id)
  const [client] = await withHandles(db, await query.execute())
  return client
}

export interface ClientFilter extends PageQuery {
  /** As `normalizeHandle` returns it. */
  handle?: string | undefined
}

export async function listClients(
  db: Db,
  projectIds: readonly string[],
  filter: ClientFilter,
): Promise<ClientWithHandles[]> {
  const { handle } = filter
  const clients = db.selectFrom('clients').selectAll()
  const rows = await listNewestOfProjects({
    projectIds,
    page: filter,
    rows: { query: clients, filters: handle === undefined ? [] : [hasHandle(handle)] },
    searchIn: (projectId) => {
      const ofProject = clients.where('project_id', '=', projectId)
      if (handle === undefined) return { query: ofProject }
      const owner = db.selectFrom('client_handles').select('client_id').where('project_id', '=', projectId)
      return { query: ofProject.where('id', 'in', owner.where('handle', '=', handle)) }
    },
  })
  return withHandles(db, rows)
}

const hasHandle = (handle: string) => sql<SqlBool>`exists (
  select 1 from client_handles where client_handles.client_id = clients.id and client_handles.handle = ${handle})`

export interface ClientActivity {
  client_id: string
  open_threads: number
  last_activity_at: string
}

/** The conversations of clients in numbers. A client without a conversation has no row. */
export async function listClientActivity(db: Db, clientIds: readonly string[]): Promise<ClientActivity[]> {
  if (clientIds.length === 0) return []
  const rows = await db
    .selectFrom('threads')
    .select((row) => [
      'client_id',
      row.fn.count('id').filterWhere('status', '=', 'open').as('open_threads'),
      row.fn.max('updated_at').as('last_activity_at'),
    ])
    .where('client_id', 'in', clientIds)
    .groupBy('client_id')
    .execute()
  return rows.map((row) => ({ ...row, open_threads: Number(row.open_threads) }))
}

export type ClientChanges = Partial<Pick<ClientWithHandles, 'display_name' | 'metadata'>> & { updated_at: string }

/** The update also locks the client, so one transaction at a time replaces its handles. */
export async function updateClient(db: Db, id: string, { metadata, ...rest }: ClientChanges): Promise<void> {
  await db
    .updateTable('clients')
    .set(metadata === undefined ? rest : { ...rest, metadata: JSON.stringify(metadata) })
    .where('id', '=', id)
    .execute()
}

type HandleOwner = Pick<ClientHandleRow, 'client_id' | 'is_verified'>

const findHandleOwner = prepareQuery<{ project_id: string; handle: string }, HandleOwner>((db, arg) =>
  db
    .selectFrom('client_handles')
    .select(['client_id', 'is_verified'])
    .where('project_id', '=', arg('project_id'))
    .where('handle', '=', arg('handle')),
)

/** The client that has proved the handle, as `normalizeHandle` returns it. Not one that only said to have it. */
export async function findClientByProvenHandle(
  db: Db,
  project_id: string,
  handle: string,
): Promise<ClientWithHandles | undefined> {
  const [owner] = await findHandleOwner(db, { project_id, handle })
  return owner?.is_verified ? findClient(db, [project_id], owner.client_id) : undefined
}

/**
 * Claims the handle for a client and returns the id of its owner. The first of concurrent claims wins, but a verified claim
 * takes the handle from a client that only said to have it, unless it may not.
 */
export async function claimHandle(db: Db, row: ClientHandleRow, mayTake = true): Promise<string> {
  for (;;) {
    const [inserted] = await insertHandle(db, row)
    const [owner] = inserted ? [inserted] : await findHandleOwner(db, row)
    const isTaken = owner && (!mayTake || owner.is_verified >= row.is_verified)
    if (isTaken) return owner.client_id
    if (owner && (await updateUnverifiedHandle(db, row)).length > 0) return row.client_id
    // The former owner released the handle after the insert failed, so the insert is tried again.
  }
}

const updateUnverifiedHandle = prepareQuery<ClientHandleRow, { client_id: string }>((db, arg) =>
  db
    .updateTable('client_handles')
    .set({ client_id: arg('client_id'), shown: arg('shown'), is_verified: arg('is_verified') })
    .where('project_id', '=', arg('project_id'))
    .where('handle', '=', arg('handle'))
    .where('is_verified', '=', 0)
    .returning('client_id'),
)

/** A name that the client gives later does not replace the one that the team knows. */
export const updateMissingName = prepareQuery<{ id: string; display_name: string; now: string }>((db, arg) =>
  db
    .updateTable('clients')
    .set({ display_name: arg('display_name'), updated_at: arg('now') })
    .where('id', '=', arg('id'))
    .where('display_name', 'is', null)
    .$castTo<never>(),
)

const insertHandle = prepareQuery<ClientHandleRow, HandleOwner>((db, arg) =>
  db
    .insertInto('client_handles')
    .values({
      project_id: arg('project_id'),
      handle: arg('handle'),
      shown: arg('shown'),
      client_id: arg('client_id'),
      is_verified: arg('is_verified'),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning(['client_id', 'is_verified']),
)

/** The handles of a client, those that it has proved first. */
export const listClientHandles = prepareQuery<{ client_id: string }, Pick<ClientHandleRow, 'shown' | 'is_verified'>>(
  (db, arg) =>
    db
      .selectFrom('client_handles')
      .select(['shown', 'is_verified'])
      .where('client_id', '=', arg('client_id'))
      .orderBy('is_verified', 'desc')
      .orderBy('handle'),
)

/** Removes what the client said to have, except for one handle. */
export const deleteOtherUnverifiedHandles = prepareQuery<{ client_id: string; handle: string }>((db, arg) =>
  db
    .deleteFrom('client_handles')
    .where('client_id', '=', arg('client_id'))
    .where('is_verified', '=', 0)
    .where('handle', '<>', arg('handle'))
    .$castTo<never>(),
)

export async function deleteHandles(db: Db, clientId: string): Promise<void> {
  await db.deleteFrom('client_handles').where('client_id', '=', clientId).execute()
}

async function withHandles(db: Db, rows: ClientRow[]): Promise<ClientWithHandles[]> {
  if (rows.length === 0) return []
  const ids = rows.map((row) => row.id)
  const query = db.selectFrom('client_handles').select(['client_id', 'shown']).where('client_id', 'in', ids)
  const handles = await query.orderBy('handle').execute()
  return rows.map((row) => {
    const metadata: JsonObject = JSON.parse(row.metadata)
    return { ...row, metadata, handles: handles.filter((of) => of.client_id === row.id).map((of) => of.shown) }
  })
}
