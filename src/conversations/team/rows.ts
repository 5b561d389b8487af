import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { DECIDABLE_COLUMNS, type DecidableApproval } from '../../approvals/requests/rows.ts'
import type { PageQuery } from '../../platform/http/page.ts'
import { isInProjects, listNewestOfProjects, listNewestPage, matchColumns } from '../../platform/store/newest-page.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ApprovalRow, ChannelRow, MessageRow, Tables, TaskRow, ThreadRow } from '../../platform/store/tables.ts'

export interface ConversationFilter extends PageQuery {
  client_id?: string | undefined
  channel_id?: string | undefined
  status?: string | undefined
  /** The member or key that has taken the conversation over. */
  held_by?: { kind: string; id: string } | undefined
  unread?: boolean | undefined
  unanswered?: boolean | undefined
}

/** Newest first by id, one more than a page. */
export function listConversations(db: Db, projectIds: readonly string[], filter: ConversationFilter) {
  return listThreadsInOrder(db, projectIds, filter, filter, ['threads.id'])
}

/** Newest activity first, one more than a page. The cursor is the time and the id of the last row. */
export function listActiveConversations(db: Db, projectIds: readonly string[], filter: ConversationFilter) {
  const page = { limit: filter.limit, cursor: filter.cursor?.split(CURSOR_SEPARATOR) }
  return listThreadsInOrder(db, projectIds, filter, page, ['threads.updated_at', 'threads.id'])
}

async function listThreadsInOrder(
  db: Db,
  projectIds: readonly string[],
  filter: ConversationFilter,
  page: { limit: number; cursor?: string | string[] | undefined },
  order: readonly string[],
): Promise<ThreadRow[]> {
  const { client_id, held_by } = filter
  const threads: ThreadQuery = db.selectFrom('threads').selectAll('threads')
  if (!isOfOneOwner(filter)) {
    const searched = filter.channel_id === undefined ? projectIds : await listChannelProjects(db, filter.channel_id)
    const allowed = projectIds.filter((projectId) => searched.includes(projectId))
    return listNewestOfProjects({
      projectIds: allowed,
      page,
      rows: filterThreads(threads, filter),
      searchIn: (projectId) => filterThreads(threads.where('threads.project_id', '=', projectId), filter),
      order,
    })
  }
  const owned =
    client_id === undefined
      ? threads.where('threads.held_by_id', '=', held_by?.id ?? '')
      : threads.where('threads.client_id', '=', client_id)
  const { query, filters } = filterThreads(owned, filter)
  return listNewestPage(query, page, [isInProjects(projectIds, 'threads.project_id'), ...filters], order)
}

/** The project of a channel, or none if it has no threads. Its messages name the project even if the channel was deleted. */
async function listChannelProjects(db: Db, channel_id: string): Promise<string[]> {
  return (await projectOfChannel(db, { channel_id })).map(({ project_id }) => project_id)
}

/** In the order of an index, so that PostgreSQL does not search all messages. */
const projectOfChannel = prepareQuery<{ channel_id: string }, Pick<MessageRow, 'project_id'>>((db, arg) =>
  db
    .selectFrom('messages')
    .select('project_id')
    .where('channel_id', '=', arg('channel_id'))
    .orderBy('external_id')
    .limit(1),
)

/** The threads of a client or of a member have an index of their own, for all projects together. */
const isOfOneOwner = ({ client_id, held_by }: ConversationFilter) => client_id !== undefined || held_by !== undefined

const CURSOR_SEPARATOR = '~'
export const activityCursor = ({ updated_at, id }: ThreadRow): string => `${updated_at}${CURSOR_SEPARATOR}${id}`

type ThreadQuery = SelectQueryBuilder<Tables, 'threads', ThreadRow>

/** Adds the conditions of a filter, without its owner. */
function filterThreads(threads: ThreadQuery, filter: ConversationFilter) {
  const { client_id, channel_id, status, held_by, unread, unanswered } = filter
  // As the partial indexes of these threads have it.
  const answered = unanswered ? threads.where('threads.unanswered_at', 'is not', null) : threads
  const query = unread ? answered.where(sql<SqlBool>`threads.message_count > threads.read_count`) : answered
  const columns = {
    'threads.channel_id': channel_id,
    'threads.status': status,
    'threads.held_by_kind': held_by?.kind,
    'threads.held_by_id': client_id === undefined ? undefined : held_by?.id,
  }
  return { query, filters: [...matchColumns(columns), ...(unread ? [HAS_UNREAD] : [])] }
}

const HAS_UNREAD = sql<SqlBool>`exists (
  select 1 from messages where messages.thread_id = threads.id and messages.n > threads.read_count
  and messages.direction = 'inbound')`

/** What a list shows of a thread beside its own row. */
export interface ThreadDetails {
  id: string
  unread: number
  client_name: string | null
  client_handle: string | null
  channel: Pick<ChannelRow, 'id' | 'address' | 'adapter'> | null
  last: Pick<MessageRow, 'direction' | 'body' | 'created_at' | 'from_handle' | 'from_name'> | null
}

const PREVIEW_CHARACTERS = 200

export async function listThreadDetails(db: Db, threadIds: readonly string[]): Promise<Map<string, ThreadDetails>> {
  if (threadIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('threads')
    .leftJoin('clients', 'clients.id', 'threads.client_id')
    .leftJoin('channels', 'channels.id', 'threads.channel_id')
    .leftJoin('messages', (join) =>
      join.onRef('messages.thread_id', '=', 'threads.id').onRef('messages.n', '=', 'threads.message_count'),
    )
    .select(['threads.id', 'clients.display_name', 'channels.id as channel_id', 'channels.address', 'channels.adapter'])
    .select(['messages.direction', 'messages.created_at', 'messages.from_handle', 'messages.from_name'])
    .select(sql<string | null>`substr(messages.body, 1, ${sql.lit(PREVIEW_CHARACTERS)})`.as('body'))
    .select((eb) => [
      eb
        .selectFrom('messages as unread')
        .select(sql<number>`count(*)`.as('n'))
        .whereRef('unread.thread_id', '=', 'threads.id')
        .whereRef('unread.n', '>', 'threads.read_count')
        .where('unread.direction', '=', 'inbound')
        .as('unread'),
      eb
        .selectFrom('client_handles')
        .select('shown')
        .whereRef('client_handles.client_id', '=', 'threads.client_id')
        .orderBy('handle')
        .limit(1)
        .as('handle'),
    ])
    .where('threads.id', 'in', threadIds)
    .execute()
  return new Map(rows.map((row) => [row.id, toDetails(row)]))
}

interface DetailsRow {
  id: string
  display_name: string | null
  channel_id: string | null
  address: string | null
  adapter: string | null
  direction: string | null
  created_at: string | null
  from_handle: string | null
  from_name: string | null
  body: string | null
  unread: number | null
  handle: string | null
}

function toDetails(row: DetailsRow): ThreadDetails {
  const { direction, created_at, from_handle, from_name, body, channel_id, address, adapter } = row
  return {
    id: row.id,
    unread: row.unread ?? 0,
    client_name: row.display_name,
    client_handle: row.handle,
    channel: channel_id !== null && address !== null ? { id: channel_id, address, adapter } : null,
    last:
      direction !== null && created_at !== null && body !== null
        ? { direction, body, created_at, from_handle, from_name }
        : null,
  }
}

/** The newest tasks of a thread, newest first. */
export const listTasksOfThread = prepareQuery<
  { thread_id: string },
  Pick<TaskRow, 'id' | 'task_type' | 'status' | 'created_at'>
>((db, arg) =>
  db
    .selectFrom('tasks')
    .select(['id', 'task_type', 'status', 'created_at'])
    .where('thread_id', '=', arg('thread_id'))
    .orderBy('id', 'desc')
    .limit(50),
)

/** The approvals of a thread's tasks that wait for the team, oldest first. */
export const listPendingApprovalsOfThread = prepareQuery<{ thread_id: string }, Pick<ApprovalRow, 'id'>>((db, arg) =>
  db
    .selectFrom('tasks')
    .innerJoin('approvals', 'approvals.task_id', 'tasks.id')
    .select('approvals.id')
    .where('tasks.thread_id', '=', arg('thread_id'))
    .where('tasks.status', '=', 'awaiting_approval')
    .where('approvals.status', '=', 'pending')
    .orderBy('approvals.id'),
)

/** A question to a client that waits in a thread of the client. */
export type OpenQuestion = DecidableApproval & { thread_id: string; thread_client_id: string }

/** Where a message may answer. One of the last three names the conversation. */
export interface QuestionSearch {
  project_id: string
  channel_id: string
  handle: string
  conversation_key: string | null
  reply_token: string | null
  thread_id: string | null
}

/** The newest question that a message may answer: of this sender, in this conversation, which the agent still has. */
export const findOpenQuestion = prepareQuery<QuestionSearch, OpenQuestion>((db, arg) =>
  db
    .selectFrom('approvals')
    .innerJoin('client_handles', 'client_handles.client_id', 'approvals.client_id')
    .innerJoin('tasks', 'tasks.id', 'approvals.task_id')
    .innerJoin('threads', 'threads.id', 'tasks.thread_id')
    .select(DECIDABLE_COLUMNS.map((column) => `approvals.${column}` as const))
    .select(['threads.id as thread_id', 'threads.client_id as thread_client_id'])
    .where('client_handles.project_id', '=', arg('project_id'))
    .where('client_handles.handle', '=', arg('handle'))
    .where('client_handles.is_verified', '=', 1)
    .where('approvals.status', '=', 'pending')
    .where('approvals.path', '=', 'question')
    .where('threads.channel_id', '=', arg('channel_id'))
    .where('threads.status', '=', 'open')
    .where('threads.held_by_kind', 'is', null)
    .where((where) =>
      where.or([
        where('threads.conversation_key', '=', arg('conversation_key')),
        where('threads.reply_token', '=', arg('reply_token')),
        where('threads.id', '=', arg('thread_id')),
      ]),
    )
    .orderBy('approvals.id', 'desc')
    .limit(1)
    .$castTo<OpenQuestion>(),
)
