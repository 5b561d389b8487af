import { z } from 'zod'
import type { Messages, Threads } from '../store/tables.ts'
import type { Client } from './client-rows.ts'
import { From, fromOf } from './records.ts'
import { THREAD_STATUSES } from './threads.ts'

/** What a client may read. Fields are named one by one, so nothing new becomes public by itself. */
export const PortalClient = z
  .object({ id: z.string(), display_name: z.string().nullable(), handles: z.array(z.string()), created_at: z.string() })
  .meta({ id: 'PortalClient' })

export const PortalMessage = z
  .object({
    id: z.string(),
    direction: z.enum(['inbound', 'outbound']),
    from: From.nullable(),
    body: z.string(),
    subject: z.string().nullable(),
    task_id: z.string().nullable(),
    created_at: z.string(),
  })
  .meta({ id: 'PortalMessage' })

export const PortalThreadSummary = z
  .object({
    id: z.string(),
    subject: z.string().nullable(),
    status: z.enum(THREAD_STATUSES),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'PortalThreadSummary' })

export const PortalThread = PortalThreadSummary.extend({ messages: z.array(PortalMessage) }).meta({
  id: 'PortalThread',
})

export const PortalCase = z
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

export function showToSelf({ id, display_name, handles, created_at }: Client) {
  return { id, display_name, handles, created_at }
}

export function showPortalThread({ id, subject, status, created_at, updated_at }: Threads) {
  return { id, subject, status, created_at, updated_at }
}

export function showPortalMessage(row: Messages) {
  const { id, direction, body, subject, task_id, created_at } = row
  return { id, direction, from: fromOf(row), body, subject, task_id, created_at }
}
