import { z } from 'zod'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { jsonObject, jsonValue } from '../http/validate.ts'
import type { ApprovalRow, EffectRow } from '../store/tables.ts'
import { ActionAmountView, describeAction, parseTool } from './action-text.ts'

export const APPROVAL_STATUSES = ['pending', 'auto_approved', 'approved', 'rejected', 'expired'] as const

export const APPROVAL_PATHS = ['action', 'tool', 'question'] as const

export const ApprovalView = z
  .object({
    approval_id: z.string(),
    task_id: z.string(),
    project_id: z.string(),
    wedge: z.string(),
    task_type: z.string(),
    action: z.string(),
    risk: z.string(),
    preview: jsonValue,
    text: z
      .string()
      .nullable()
      .meta({ description: 'What an action of a named tool does, such as "stripe: create a refund of $50.00".' }),
    amount: ActionAmountView.nullable().meta({
      description: 'The amount, if the tool declares where it is. Of an edited payload: the edited amount.',
    }),
    payload_sha256: z.string(),
    allowed_decisions: z.array(z.enum(['approve', 'edit', 'reject'])),
    status: z.enum(APPROVAL_STATUSES),
    path: z.enum(APPROVAL_PATHS).meta({ description: 'A question is answered by approve with `edited: {answer}`.' }),
    to: z
      .enum(['team', 'client'])
      .nullable()
      .meta({ description: 'Who is asked a question; null for other approvals.' }),
    connection: z.string().nullable(),
    connection_id: z.string().nullable(),
    policy_reason: z
      .string()
      .nullable()
      .meta({ description: 'Why a rule approved the request, or why it needs a decision.' }),
    policy_rule: jsonObject.nullable(),
    edited: jsonObject.nullable(),
    reason: z.string().nullable(),
    revise: z.boolean().meta({
      description: 'A person sent the rejected request back with `reason` as a note, and the task continues.',
    }),
    note: z.string().nullable(),
    created_at: z.string(),
    expires_at: z.string().nullable(),
    decided_at: z.string().nullable(),
    decided_by: z.object({ kind: z.string(), id: z.string() }).nullable(),
  })
  .meta({ id: 'Approval' })

export const DecisionView = z
  .object({ ok: z.literal(true), decision: z.enum(['approved', 'rejected']) })
  .meta({ id: 'Decision' })

export const PolicySimulationView = z
  .object({
    checked: z.number().int(),
    would_pass: z.number().int(),
    would_gate: z.number().int(),
    results: z.array(
      z.object({
        approval_id: z.string(),
        action: z.string(),
        text: z.string().nullable(),
        status: z.enum(APPROVAL_STATUSES),
        would: z.enum(['pass', 'gate']),
        reason: z.string(),
        created_at: z.string(),
      }),
    ),
  })
  .meta({ id: 'PolicySimulation' })

export function toApprovalView(row: ApprovalRow) {
  const preview = parseProposedPayload(row)
  return {
    approval_id: row.id,
    task_id: row.task_id,
    project_id: row.project_id,
    wedge: row.wedge,
    task_type: row.task_type,
    action: row.action,
    risk: row.risk,
    preview,
    ...describeAction(parseTool(row), row, approvedPayload(row)),
    payload_sha256: row.payload_sha256,
    allowed_decisions: allowedDecisions(row, preview),
    status: row.status,
    path: row.path,
    to: askedField(row).to ?? null,
    connection: row.connection,
    connection_id: row.connection_id,
    policy_reason: row.policy_reason,
    policy_rule: row.policy_rule && (JSON.parse(row.policy_rule) as JsonObject),
    edited: row.edited && (JSON.parse(row.edited) as JsonObject),
    reason: row.reason,
    revise: row.revise === 1,
    note: row.note,
    created_at: row.created_at,
    expires_at: row.expires_at,
    decided_at: row.decided_at,
    decided_by: row.decided_by_kind && { kind: row.decided_by_kind, id: row.decided_by_id },
  }
}

function allowedDecisions({ path }: ApprovalRow, preview: Json): string[] {
  // A question cannot be approved without an answer, which is an edit.
  if (path === 'question') return ['edit', 'reject']
  // The agent itself makes a gated tool call, so the service cannot change its arguments. And an edit replaces fields of
  // the payload: text or a list has none.
  return path === 'action' && isJsonObject(preview) ? ['approve', 'edit', 'reject'] : ['approve', 'reject']
}

/** Who is asked, for a question. */
export function askedField({ path, client_id }: Pick<ApprovalRow, 'path' | 'client_id'>): { to?: 'team' | 'client' } {
  if (path !== 'question') return {}
  return { to: client_id === null ? 'team' : 'client' }
}

export const parseProposedPayload = (row: Pick<ApprovalRow, 'payload'>) => JSON.parse(row.payload) as Json

/** The payload that may be sent: the proposed one, with the fields of the edit in place of its own. */
export function approvedPayload(row: Pick<ApprovalRow, 'payload' | 'edited'>): Json {
  const payload = parseProposedPayload(row)
  return row.edited ? { ...(payload as JsonObject), ...(JSON.parse(row.edited) as JsonObject) } : payload
}

export const EffectView = z
  .object({
    approval_id: z.string(),
    task_id: z.string(),
    action: z.string(),
    connection_id: z.string(),
    connection: z.string(),
    payload_sha256: z.string(),
    outcome: z.enum(['ok', 'failed', 'unknown', 'sent']),
    status: z.number().nullable(),
    error: z.string().nullable(),
    created_at: z.string(),
    finished_at: z.string().nullable(),
  })
  .meta({ id: 'Action' })

export function toEffectView({ project_id: _project, replica: _replica, result: _result, ...view }: EffectRow) {
  return view
}
