import { z } from 'zod'
import type { ChannelRow, MessageRow, ThreadRow } from '../store/tables.ts'
import { parseRecipients } from './messages.ts'
import { THREAD_STATUSES } from './threads.ts'

export const ChannelView = z
  .object({
    id: z.string(),
    project_id: z.string(),
    connection_id: z.string(),
    address: z.string(),
    wedge: z.string(),
    task_type: z.string(),
    created_at: z.string(),
  })
  .meta({ id: 'Channel' })

export const InboundReceiptView = z.object({ task_id: z.string(), thread_id: z.string(), client_id: z.string() })

export const MessageSenderView = z
  .object({ handle: z.string().nullable(), name: z.string().nullable() })
  .meta({ id: 'MessageSender' })

export const MessageView = z
  .object({
    id: z.string(),
    direction: z.enum(['inbound', 'outbound']),
    from: MessageSenderView.nullable().meta({ description: 'The sender; null if the agent or a member wrote it.' }),
    to: z
      .array(z.string())
      .nullable()
      .meta({ description: 'The recipients of a mail; null for a message in the thread.' }),
    body: z.string(),
    subject: z.string().nullable(),
    task_id: z.string().nullable(),
    external_id: z.string().nullable(),
    created_at: z.string(),
  })
  .meta({ id: 'Message' })

export const ThreadSummaryView = z
  .object({
    id: z.string(),
    project_id: z.string(),
    channel_id: z.string(),
    client_id: z.string(),
    subject: z.string().nullable(),
    status: z.enum(THREAD_STATUSES),
    message_count: z.number().int(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'ThreadSummary' })

export const ThreadView = ThreadSummaryView.extend({ messages: z.array(MessageView) }).meta({ id: 'Thread' })

export function toChannelView(row: ChannelRow) {
  const { id, project_id, connection_id, address, wedge, task_type, created_at } = row
  return { id, project_id, connection_id, address, wedge, task_type, created_at }
}

export function toThreadSummaryView(row: ThreadRow) {
  const { id, project_id, channel_id, client_id, subject, status, message_count, created_at, updated_at } = row
  return { id, project_id, channel_id, client_id, subject, status, message_count, created_at, updated_at }
}

export function toMessageView(row: MessageRow) {
  const { id, direction, body, subject, task_id, external_id, created_at } = row
  return {
    id,
    direction,
    from: toMessageSenderView(row),
    to: parseRecipients(row),
    body,
    subject,
    task_id,
    external_id,
    created_at,
  }
}

export function toMessageSenderView({ direction, from_handle, from_name }: MessageRow) {
  return direction === 'inbound' ? { handle: from_handle, name: from_name } : null
}
