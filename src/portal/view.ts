import { z } from 'zod'
import type { QuestionPreview } from '../approvals/question.ts'
import { THREAD_STATUSES } from '../channels/threads.ts'
import { MessageSenderView, toMessageSenderView } from '../channels/view.ts'
import type { ClientWithHandles } from '../clients/rows.ts'
import { jsonObject } from '../http/validate.ts'
import type { MessageRow, ThreadRow } from '../store/tables.ts'
import type { ClientQuestion } from './rows.ts'

/** What a client can see. Every field is listed here, so a new column never becomes visible by accident. */
export const PortalClientView = z
  .object({ id: z.string(), display_name: z.string().nullable(), handles: z.array(z.string()), created_at: z.string() })
  .meta({ id: 'PortalClient' })

export const PortalMessageView = z
  .object({
    id: z.string(),
    direction: z.enum(['inbound', 'outbound']),
    from: MessageSenderView.nullable(),
    body: z.string(),
    subject: z.string().nullable(),
    task_id: z.string().nullable(),
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

export function toPortalThreadView({ id, subject, status, created_at, updated_at }: ThreadRow) {
  return { id, subject, status, created_at, updated_at }
}

export function toPortalMessageView(row: MessageRow) {
  const { id, direction, body, subject, task_id, created_at } = row
  return { id, direction, from: toMessageSenderView(row), body, subject, task_id, created_at }
}

export function toPortalQuestionView({ id, task_id, thread_id, payload, created_at, expires_at }: ClientQuestion) {
  const preview: QuestionPreview = JSON.parse(payload)
  return { id, task_id, thread_id, ...preview, created_at, expires_at }
}

export const PortalConnectionView = z
  .object({ id: z.string(), name: z.string(), status: z.enum(['connected', 'needs_authorisation']) })
  .meta({ id: 'PortalConnection' })
