import { z } from 'zod'
import { type NamedActor, nameActors } from '../../identity/organisations/actor-name-rows.ts'
import { NamedActorView } from '../../identity/authentication/view.ts'
import { parseRecipients } from '../../customers/threads/append-message.ts'
import { THREAD_STATUSES } from '../../customers/threads/thread-rows.ts'
import { MessageSenderView, toMessageSenderView } from '../../customers/channels/view.ts'
import { listMessageFiles } from '../../work/files/rows.ts'
import { FileView, toFileView } from '../../work/files/view.ts'
import { jsonObject } from '../../platform/http/validate.ts'
import type { Db } from '../../platform/store/store.ts'
import type { FileRow, MessageRow, ThreadRow } from '../../platform/store/tables.ts'
import { TASK_STATUSES } from '../../work/tasks/status.ts'
import { listPendingApprovalsOfThread, listTasksOfThread, listThreadDetails, type ThreadDetails } from './rows.ts'

const direction = z.enum(['inbound', 'outbound'])

export const MessageView = z
  .object({
    id: z.string(),
    direction,
    from: MessageSenderView.nullable().meta({ description: 'The sender; null if the agent or a member wrote it.' }),
    author: NamedActorView.nullable().meta({ description: 'The member or key that wrote an answer; null: an agent.' }),
    to: z
      .array(z.string())
      .nullable()
      .meta({ description: 'The recipients of a mail; null for a message in the thread.' }),
    body: z.string(),
    subject: z.string().nullable(),
    files: z.array(FileView),
    task_id: z.string().nullable(),
    external_id: z.string().nullable(),
    delivery: z
      .enum(['sending', 'sent', 'failed', 'unknown'])
      .nullable()
      .meta({ description: 'How the message left the service; null: the client reads it in the portal only.' }),
    delivery_error: z.string().nullable(),
    is_automatic: z
      .boolean()
      .meta({ description: 'An automatic reply, a bounce, or a notice that the service shows in the portal.' }),
    verdict: jsonObject.nullable().meta({
      description: 'What the mail server found out about the sender, or about `sent_by`: SPF, DKIM, DMARC.',
    }),
    unverified: z.boolean().meta({
      description: 'Nothing proves that the client wrote this mail, so it answers no question of an agent.',
    }),
    sent_by: z.string().nullable().meta({
      description: 'The address in From, if the mail names its sender in Reply-To; null: the sender sent it.',
    }),
    created_at: z.string(),
  })
  .meta({ id: 'Message' })

export const ThreadSummaryView = z
  .object({
    id: z.string(),
    project_id: z.string(),
    channel_id: z.string(),
    channel: z
      .object({ id: z.string(), address: z.string(), adapter: z.string().nullable() })
      .nullable()
      .meta({ description: 'Null if the channel was deleted.' }),
    client_id: z.string(),
    client_name: z.string().nullable(),
    subject: z.string().nullable(),
    status: z.enum(THREAD_STATUSES),
    message_count: z.number().int(),
    unread: z.number().int().meta({ description: 'Messages of the client that the team has not read.' }),
    unanswered: z
      .object({ since: z.string(), reason: z.string(), task_id: z.string().nullable() })
      .nullable()
      .meta({ description: 'Since when the client waits for an answer that no run will give, and why.' }),
    held_by: NamedActorView.nullable().meta({ description: 'Who has taken the conversation over from the agent.' }),
    last_message: z
      .object({ direction, body: z.string(), at: z.string(), from: MessageSenderView.nullable() })
      .nullable()
      .meta({ description: 'The newest message, with the first 200 characters of its text.' }),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'ThreadSummary' })

const ThreadTaskView = z
  .object({ id: z.string(), task_type: z.string(), status: z.enum(TASK_STATUSES), created_at: z.string() })
  .meta({ id: 'ThreadTask' })

export const ThreadView = ThreadSummaryView.extend({
  messages: z.array(MessageView),
  pending: z.array(z.string()).meta({ description: 'The approvals of the thread that wait for the team.' }),
  tasks: z.array(ThreadTaskView).meta({ description: 'The newest 50 tasks of the thread, newest first.' }),
}).meta({ id: 'Thread' })

export async function readThreadSummaries(db: Db, rows: readonly ThreadRow[]) {
  const details = await listThreadDetails(
    db,
    rows.map((row) => row.id),
  )
  const nameOf = await nameActors(
    db,
    rows.map((row) => ({ kind: row.held_by_kind, id: row.held_by_id })),
  )
  return rows.map((row) => toThreadSummaryView(row, details.get(row.id), nameOf(row.held_by_kind, row.held_by_id)))
}

export async function readThreadSummary(db: Db, row: ThreadRow) {
  const details = await listThreadDetails(db, [row.id])
  const nameOf = await nameActors(db, [{ kind: row.held_by_kind, id: row.held_by_id }])
  return toThreadSummaryView(row, details.get(row.id), nameOf(row.held_by_kind, row.held_by_id))
}

export async function readThreadView(db: Db, row: ThreadRow, messages: readonly MessageRow[]) {
  const pending = await listPendingApprovalsOfThread(db, { thread_id: row.id })
  return {
    ...(await readThreadSummary(db, row)),
    messages: await readMessageViews(db, messages),
    pending: pending.map(({ id }) => id),
    tasks: await listTasksOfThread(db, { thread_id: row.id }),
  }
}

export async function readMessageViews(db: Db, rows: readonly MessageRow[]) {
  const files = await listMessageFiles(
    db,
    rows.map(({ id }) => id),
  )
  const nameOf = await nameActors(
    db,
    rows.map((row) => ({ kind: row.author_kind, id: row.author_id })),
  )
  const filesOf = (id: string) => (files.length === 0 ? [] : files.filter(({ message_id }) => message_id === id))
  return rows.map((row) => toMessageView(row, nameOf(row.author_kind, row.author_id), filesOf(row.id)))
}

function toThreadSummaryView(row: ThreadRow, details: ThreadDetails | undefined, held_by: NamedActor | null) {
  const { id, project_id, channel_id, client_id, subject, status, message_count, created_at, updated_at } = row
  const { unanswered_at: since, unanswered_reason, unanswered_task_id: task_id } = row
  return {
    id,
    project_id,
    channel_id,
    channel: details?.channel ?? null,
    client_id,
    client_name: details?.client_name ?? details?.client_handle ?? null,
    subject,
    status,
    message_count,
    unread: details?.unread ?? 0,
    unanswered: since === null ? null : { since, reason: unanswered_reason ?? '', task_id },
    held_by,
    last_message: details?.last ? toLastMessage(details.last) : null,
    created_at,
    updated_at,
  }
}

function toLastMessage(last: NonNullable<ThreadDetails['last']>) {
  const { direction: way, body, created_at: at } = last
  return { direction: way, body, at, from: toMessageSenderView(last) }
}

function toMessageView(row: MessageRow, author: NamedActor | null, files: readonly FileRow[]) {
  const { id, direction: way, body, subject, task_id, external_id, delivery, delivery_error, created_at } = row
  return {
    id,
    direction: way,
    from: toMessageSenderView(row),
    author,
    to: parseRecipients(row),
    body,
    subject,
    files: files.map(toFileView),
    task_id,
    external_id,
    delivery,
    delivery_error,
    is_automatic: row.is_automatic === 1,
    verdict: row.verdict === null ? null : JSON.parse(row.verdict),
    unverified: row.is_unverified === 1,
    sent_by: row.sent_by,
    created_at,
  }
}
