import { sql } from 'kysely'
import type { Db } from '../../platform/store/store.ts'
import type { ApprovalVoteRow, MessageRow } from '../../platform/store/tables.ts'

/** A message may have a megabyte; a card shows its beginning. */
export const MAX_SHOWN_CHARACTERS = 4_000

/** What an approval is about: its task, the client, and the client's message. */
export interface ApprovalContextRow {
  approval_id: string
  client_id: string | null
  client_name: string | null
  client_handle: string | null
  thread_id: string | null
  case_id: string | null
  requested_by_kind: string | null
  requested_by_id: string | null
  message_id: string | null
  body: string | null
  message_at: string | null
  from_handle: string | null
  from_name: string | null
  is_unverified: number | null
  comment_count: number
}

export async function listApprovalContexts(db: Db, approvalIds: readonly string[]): Promise<ApprovalContextRow[]> {
  if (approvalIds.length === 0) return []
  const rows = await db
    .selectFrom('approvals')
    .innerJoin('tasks', 'tasks.id', 'approvals.task_id')
    .leftJoin('clients', 'clients.id', 'tasks.client_id')
    .leftJoin('messages', (join) =>
      join.on('messages.id', '=', (eb) => eb.fn.coalesce(firstMessageOfTask(db), newestMessageOfThread(db))),
    )
    .select(['approvals.id as approval_id', 'tasks.client_id', 'clients.display_name as client_name'])
    .select(['tasks.thread_id', 'tasks.requested_by_kind', 'tasks.requested_by_id'])
    .select(['messages.id as message_id', 'messages.created_at as message_at'])
    .select(['messages.from_handle', 'messages.from_name', 'messages.is_unverified'])
    .select(sql<string | null>`substr(messages.body, 1, ${sql.lit(MAX_SHOWN_CHARACTERS)})`.as('body'))
    .select((eb) => [
      // A task that a message started has no case of its own, but its conversation may have one.
      eb.fn
        .coalesce(
          'tasks.case_id',
          eb
            .selectFrom('cases')
            .select('cases.id')
            .whereRef('cases.thread_id', '=', 'tasks.thread_id')
            .orderBy('cases.id', 'desc')
            .limit(1),
        )
        .as('case_id'),
      eb
        .selectFrom('client_handles')
        .select('shown')
        .whereRef('client_handles.client_id', '=', 'tasks.client_id')
        .orderBy('handle')
        .limit(1)
        .as('client_handle'),
      eb
        .selectFrom('approval_comments')
        .select(sql<number>`count(*)`.as('n'))
        .whereRef('approval_comments.approval_id', '=', 'approvals.id')
        .as('comment_count'),
    ])
    .where('approvals.id', 'in', approvalIds)
    .execute()
  return rows.map((row) => ({ ...row, comment_count: Number(row.comment_count) }))
}

/** The message that started the task. Of several, one whose sender is not verified, because a person must know of it. */
const firstMessageOfTask = (db: Db) =>
  db
    .selectFrom('messages as own')
    .select('own.id')
    .where('own.task_id', '=', sql.ref<string>('tasks.id'))
    .where('own.direction', '=', sql.lit('inbound'))
    .orderBy('own.is_unverified', 'desc')
    .orderBy('own.n')
    .limit(1)

const newestMessageOfThread = (db: Db) =>
  db
    .selectFrom('messages as newest')
    .select('newest.id')
    .where('newest.thread_id', '=', sql.ref<string>('tasks.thread_id'))
    .where('newest.direction', '=', 'inbound')
    .where('newest.created_at', '<=', sql.ref<string>('approvals.created_at'))
    .orderBy('newest.n', 'desc')
    .limit(1)

/** A vote with its current voter; the role is null for a voter who does not exist any more. */
export interface VoteOfVoter extends ApprovalVoteRow {
  status: string
  approvers: string | null
  member_role: string | null
  email: string | null
  key_role: string | null
  /** The client that the approval asks, if it still exists. */
  asked_client: string | null
}

/** The votes for the current payload, oldest first. */
export async function listVotes(db: Db, approvalIds: readonly string[]): Promise<VoteOfVoter[]> {
  if (approvalIds.length === 0) return []
  return db
    .selectFrom('approval_votes')
    .innerJoin('approvals', (join) =>
      join
        .onRef('approvals.id', '=', 'approval_votes.approval_id')
        .onRef('approvals.payload_sha256', '=', 'approval_votes.payload_sha256'),
    )
    .leftJoin('members', 'members.id', 'approval_votes.voter_id')
    .leftJoin('keys', 'keys.id', 'approval_votes.voter_id')
    .leftJoin('clients', 'clients.id', 'approvals.client_id')
    .selectAll('approval_votes')
    .select(['approvals.status', 'approvals.approvers'])
    .select(['members.role as member_role', 'members.email', 'keys.role as key_role', 'clients.id as asked_client'])
    .where('approval_votes.approval_id', 'in', approvalIds)
    .orderBy('approval_votes.created_at')
    .orderBy('approval_votes.voter_id')
    .execute()
}

export type ThreadExcerptRow = Pick<
  MessageRow,
  'id' | 'direction' | 'body' | 'created_at' | 'is_unverified' | 'author_kind' | 'author_id'
>

/** The last messages of a thread, newest first, with the beginning of their text. */
export async function listThreadEnd(db: Db, threadId: string, limit: number): Promise<ThreadExcerptRow[]> {
  return db
    .selectFrom('messages')
    .select(['id', 'direction', 'created_at', 'is_unverified', 'author_kind', 'author_id'])
    .select(sql<string>`substr(body, 1, ${sql.lit(MAX_SHOWN_CHARACTERS)})`.as('body'))
    .where('thread_id', '=', threadId)
    .orderBy('n', 'desc')
    .limit(limit)
    .execute()
}
