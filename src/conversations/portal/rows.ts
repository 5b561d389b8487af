import { sql } from 'kysely'
import type { PageQuery } from '../../platform/http/page.ts'
import { listNewestPage, matchColumns } from '../../platform/store/newest-page.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type {
  ApprovalRow,
  CaseRow,
  ClientSessionRow,
  MessageRow,
  PortalLinkRow,
  TaskRow,
} from '../../platform/store/tables.ts'

export async function insertPortalLink(db: Db, link: PortalLinkRow): Promise<void> {
  await db.insertInto('portal_links').values(link).execute()
}

/** Marks a link as used. One of concurrent exchanges gets the row. */
export const updatePortalLinkUsed = prepareQuery<
  { hash: string; now: string },
  Pick<PortalLinkRow, 'project_id' | 'client_id'>
>((db, arg) =>
  db
    .updateTable('portal_links')
    .set({ used_at: arg('now') })
    .where('hash', '=', arg('hash'))
    .where('used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', arg('now'))
    .returning(['project_id', 'client_id']),
)

/** Includes used links: the update then waits for a concurrent exchange, whose session becomes visible. */
export async function updatePortalLinksRevoked(db: Db, clientId: string, now: string): Promise<void> {
  const query = db.updateTable('portal_links').set({ revoked_at: now }).where('client_id', '=', clientId)
  await query.where('revoked_at', 'is', null).execute()
}

/** The unused links of a client that expire until a time. */
export async function countOpenLinks(
  db: Db,
  { client_id, now, until }: { client_id: string; now: string; until: string },
): Promise<number> {
  const query = db
    .selectFrom('portal_links')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('client_id', '=', client_id)
    .where('used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .where('expires_at', '<=', until)
  return Number((await query.executeTakeFirst())?.count ?? 0)
}

export async function insertClientSession(db: Db, session: ClientSessionRow): Promise<void> {
  await db.insertInto('client_sessions').values(session).execute()
}

export const findClientSession = prepareQuery<
  { hash: string; now: string },
  Pick<ClientSessionRow, 'project_id' | 'client_id'>
>((db, arg) =>
  db
    .selectFrom('client_sessions')
    .select(['project_id', 'client_id'])
    .where('hash', '=', arg('hash'))
    .where('expires_at', '>', arg('now')),
)

export async function deleteClientSessions(db: Db, clientId: string): Promise<void> {
  await db.deleteFrom('client_sessions').where('client_id', '=', clientId).execute()
}

export async function deleteClientSession(db: Db, hash: string): Promise<void> {
  await db.deleteFrom('client_sessions').where('hash', '=', hash).execute()
}

export async function deleteExpiredPortalRows(db: Db, now: string): Promise<void> {
  await db.deleteFrom('portal_links').where('expires_at', '<=', now).execute()
  await db.deleteFrom('client_sessions').where('expires_at', '<=', now).execute()
}

/** What the list of conversations shows of a thread beside its own row. */
export interface ClientThreadDetails {
  id: string
  hasUnread: boolean
  last: Pick<MessageRow, 'direction' | 'body' | 'created_at' | 'recipients'> | null
}

const PREVIEW_CHARACTERS = 200

export async function listClientThreadDetails(
  db: Db,
  threadIds: readonly string[],
): Promise<Map<string, ClientThreadDetails>> {
  if (threadIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('threads')
    .innerJoin('messages', (join) =>
      join.onRef('messages.thread_id', '=', 'threads.id').onRef('messages.n', '=', 'threads.message_count'),
    )
    .select(['threads.id', 'messages.direction', 'messages.created_at', 'messages.recipients'])
    .select(sql<string>`substr(messages.body, 1, ${sql.lit(PREVIEW_CHARACTERS)})`.as('body'))
    .select((eb) =>
      eb
        .selectFrom('messages as unread')
        .select(sql<number>`count(*)`.as('n'))
        .whereRef('unread.thread_id', '=', 'threads.id')
        .whereRef('unread.n', '>', 'threads.client_read_count')
        .where('unread.direction', '=', 'outbound')
        .where('unread.recipients', 'is', null)
        .as('unread'),
    )
    .where('threads.id', 'in', threadIds)
    .execute()
  return new Map(rows.map(({ id, unread, ...last }) => [id, { id, hasUnread: (unread ?? 0) > 0, last }]))
}

export type ClientCase = Pick<CaseRow, 'id' | 'title' | 'stage' | 'status' | 'created_at' | 'updated_at' | 'closed_at'>

/** The cases of a client, without the columns that only the founder may see. */
export function listClientCases(
  db: Db,
  { projectId, clientId }: { projectId: string; clientId: string },
  page: PageQuery,
): Promise<ClientCase[]> {
  const query = db
    .selectFrom('cases')
    .select(['id', 'title', 'stage', 'status', 'created_at', 'updated_at', 'closed_at'])
    .where('client_id', '=', clientId)
  return listNewestPage(query, page, matchColumns({ project_id: projectId }))
}

export type ClientQuestion = ApprovalRow & Pick<TaskRow, 'thread_id'>

/** The questions that wait for the answer of a client, newest first. */
export function listClientQuestions(
  db: Db,
  { projectId, clientId }: { projectId: string; clientId: string },
  page: PageQuery,
): Promise<ClientQuestion[]> {
  const pending = db
    .selectFrom('approvals')
    .innerJoin('tasks', 'tasks.id', 'approvals.task_id')
    .selectAll('approvals')
    .select('tasks.thread_id')
    .where('approvals.client_id', '=', clientId)
    .where('approvals.status', '=', 'pending')
    .where('approvals.path', '=', 'question')
  return listNewestPage(pending, page, matchColumns({ 'approvals.project_id': projectId }), ['approvals.id'])
}

export const findMessageByExternalId = prepareQuery<{ channel_id: string; external_id: string }, MessageRow>(
  (db, arg) =>
    db
      .selectFrom('messages')
      .selectAll()
      .where('channel_id', '=', arg('channel_id'))
      .where('external_id', '=', arg('external_id')),
)

/** The messages in the threads of a client that have a file. */
export const listClientMessagesWithFile = prepareQuery<
  { client_id: string; file_id: string },
  Pick<MessageRow, 'recipients'>
>((db, arg) =>
  db
    .selectFrom('message_files')
    .innerJoin('messages', 'messages.id', 'message_files.message_id')
    .innerJoin('threads', 'threads.id', 'messages.thread_id')
    .select('messages.recipients')
    .where('message_files.file_id', '=', arg('file_id'))
    .where('threads.client_id', '=', arg('client_id')),
)
