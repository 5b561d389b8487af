import { z } from 'zod'
import { describeForClient } from '../../approvals/requests/client-text.ts'
import { approvedPayload } from '../../approvals/requests/view.ts'
import type { Language } from '../../../client-text/languages.ts'
import { jsonValue } from '../../platform/http/validate.ts'
import type { ClientApproval } from './approval-rows.ts'

export const PORTAL_APPROVAL_STATUSES = ['pending', 'approved', 'rejected', 'expired'] as const

/** What a client sees of an approval. Rules, votes, comments and reasons of other people are for the team only. */
export const PortalApprovalView = z
  .object({
    id: z.string(),
    task_id: z.string(),
    thread_id: z.string().nullable(),
    title: z.string().meta({
      description:
        'What the client is asked, in the language of the brand, such as "Please confirm: create a refund ($50.00)".',
    }),
    amount: z
      .object({
        value: z.number().meta({ description: 'In major units: 50 is $50.00.' }),
        currency: z.string().nullable().meta({ description: 'ISO 4217, in upper case.' }),
        text: z.string().meta({ description: 'In the language of the brand, such as "$50.00".' }),
        path: z.string().meta({ description: 'The field of the payload that states the amount.' }),
      })
      .nullable(),
    payload: jsonValue.meta({ description: 'What will be sent.' }),
    payload_sha256: z.string(),
    status: z.enum(PORTAL_APPROVAL_STATUSES),
    your_decision: z
      .enum(['approved', 'rejected'])
      .nullable()
      .meta({ description: 'What the client decided. `approved` and still `pending`: other people must approve too.' }),
    reason: z.string().nullable().meta({ description: "The client's own reason for a rejection." }),
    created_at: z.string(),
    expires_at: z.string().nullable(),
    decided_at: z.string().nullable(),
  })
  .meta({ id: 'PortalApproval' })

export const PortalDecisionView = z
  .object({
    ok: z.literal(true),
    decision: z
      .enum(['approved', 'rejected', 'pending'])
      .meta({ description: '`pending`: other people must approve as well.' }),
  })
  .meta({ id: 'PortalDecision' })

export function toPortalApprovalView(row: ClientApproval, language: Language) {
  const { id, task_id, thread_id, payload_sha256, status, created_at, expires_at, decided_at } = row
  const yours = yourDecision(row)
  return {
    id,
    task_id,
    thread_id,
    ...describeForClient(row, language),
    payload: approvedPayload(row),
    payload_sha256,
    status,
    your_decision: yours,
    reason: yours === 'rejected' ? row.reason : null,
    created_at,
    expires_at,
    decided_at,
  }
}

function yourDecision({ status, client_id, decided_by_kind, decided_by_id, voted_at }: ClientApproval) {
  const hasDecided = decided_by_kind === 'client' && decided_by_id === client_id
  if (hasDecided) return status === 'rejected' ? 'rejected' : 'approved'
  return voted_at === null ? null : 'approved'
}
