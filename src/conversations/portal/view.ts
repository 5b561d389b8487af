import { z } from 'zod'
import type { NamedActor } from '../../identity/organisations/actor-name-rows.ts'
import type { QuestionPreview } from '../../approvals/requests/question.ts'
import { THREAD_STATUSES } from '../../customers/threads/thread-rows.ts'
import { MessageSenderView, toMessageSenderView } from '../../customers/channels/view.ts'
import { PublicBrandView } from '../../customers/brand/view.ts'
import { isVisibleToClient } from '../../customers/threads/append-message.ts'
import type { ClientWithHandles } from '../../customers/clients/rows.ts'
import { FileView, toFileView } from '../../work/files/view.ts'
import { jsonObject } from '../../platform/http/validate.ts'
import type { FileRow, MessageRow, ThreadRow } from '../../platform/store/tables.ts'
import type { ClientQuestion, ClientThreadDetails } from './rows.ts'

/** What a client can see. Every field is listed here, so a new column never becomes visible by accident. */
export const PortalClientView = z
  .object({ id: z.string(), display_name: z.string().nullable(), handles: z.array(z.string()), created_at: z.string() })
  .meta({ id: 'PortalClient' })

export const PortalMeView = PortalClientView.extend({
  brand: PublicBrandView,
  can_start_conversation: z.boolean(),
  max_file_bytes: z.number().meta({ description: 'The largest file that can be uploaded.' }),
  notices: z
    .boolean()
    .nullable()
    .meta({ description: 'Whether the client gets mails about answers; null: there are no such mails.' }),
}).meta({ id: 'PortalMe' })

export const PortalMessageView = z
  .object({
    id: z.string(),
    direction: z.enum(['inbound', 'outbound']),
    from: MessageSenderView.nullable(),
    body: z.string(),
    subject: z.string().nullable(),
    task_id: z.string().nullable(),
    author: z
      .string()
      .nullable()
      .meta({ description: 'The name of the team member who wrote it; null: the message is not from a member.' }),
    files: z.array(FileView),
    created_at: z.string(),
  })
  .meta({ id: 'PortalMessage' })

export const PortalThreadSummaryView = z
  .object({
    id: z.string(),
    subject: z.string().nullable(),
    status: z.enum(THREAD_STATUSES),
    created_at: z.string(),
    updated_at: z.string(),
    unread: z.boolean().meta({ description: 'Whether there is an answer that the client has not opened.' }),
    last_message: z
      .object({ direction: z.enum(['inbound', 'outbound']), body: z.string(), created_at: z.string() })
      .nullable()
      .meta({ description: 'The newest message, cut after 200 characters; null if the client may not read it.' }),
  })
  .meta({ id: 'PortalThreadSummary' })

export const PortalThreadView = PortalThreadSummaryView.extend({ messages: z.array(PortalMessageView) }).meta({
  id: 'PortalThread',
})

export const PortalQuestionView = z
  .object({
    id: z.string(),
    task_id: z.string(),
    thread_id: z.string().nullable(),
    question: z.string(),
    schema: jsonObject.nullable().meta({ description: 'The JSON Schema of the answer; null: the answer is text.' }),
    options: z.array(z.string()).nullable().meta({ description: 'The possible answers; null: there is no list.' }),
    created_at: z.string(),
    expires_at: z.string().nullable(),
  })
  .meta({ id: 'PortalQuestion' })

export const PortalOkView = z.object({ ok: z.literal(true) })

export const PortalCaseView = z
  .object({
    id: z.string(),
    title: z.string().nullable(),
    stage: z.string(),
    status: z.string(),
    created_at: z.string(),
    updated_at: z.string(),
    closed_at: z.string().nullable(),
  })
  .meta({ id: 'PortalCase' })

export const PortalSessionView = z.object({
  session_token: z.string(),
  expires_at: z.string(),
  client: PortalClientView,
})

export const PortalLinkView = z.object({ token: z.string(), expires_at: z.string(), url: z.string() })

export function toPortalClientView({ id, display_name, handles, created_at }: ClientWithHandles) {
  return { id, display_name, handles, created_at }
}

/** `handles` are those of the client, who may not read mails to other people. */
export function toPortalThreadView(
  { id, subject, status, created_at, updated_at }: ThreadRow,
  details: ClientThreadDetails | undefined,
  handles: readonly string[],
) {
  const last = details?.last && isVisibleToClient(handles, details.last) ? details.last : null
  const last_message = last && { direction: last.direction, body: last.body, created_at: last.created_at }
  return { id, subject, status, created_at, updated_at, unread: details?.hasUnread ?? false, last_message }
}

/** A member without a name would be shown by the email, and an API key has a name for the team only. */
export function toPortalMessageView(row: MessageRow, writer: NamedActor | null, files: readonly FileRow[]) {
  const { id, direction, body, subject, task_id, created_at } = row
  const from = toMessageSenderView(row)
  const author = writer?.kind === 'member' && !writer.name?.includes('@') ? writer.name : null
  return { id, direction, from, body, subject, task_id, author, files: files.map(toFileView), created_at }
}

export function toPortalQuestionView({ id, task_id, thread_id, payload, created_at, expires_at }: ClientQuestion) {
  const preview: QuestionPreview = JSON.parse(payload)
  return { id, task_id, thread_id, ...preview, created_at, expires_at }
}

export const PortalConnectionView = z
  .object({ id: z.string(), name: z.string(), status: z.enum(['connected', 'needs_authorisation']) })
  .meta({ id: 'PortalConnection' })
