import { z } from 'zod'
import { NamedActorView } from '../../identity/authentication/view.ts'
import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'
import { MessageSenderView, toMessageSenderView } from '../../customers/channels/view.ts'
import { jsonObject, jsonValue } from '../../platform/http/validate.ts'
import type { ApprovalRow, ApprovalVoteRow, EffectRow } from '../../platform/store/tables.ts'
import { ActionAmountView, describeAction, parseTool } from '../policy/action-text.ts'
import { type ApprovalContextRow, MAX_SHOWN_CHARACTERS } from './context-rows.ts'
import { buttonHoldS, withHeldEdit } from './held-approval.ts'
import { DroppedApprovalView, HeldApprovalView, type NameOf, toDroppedView, toHeldView } from './held-view.ts'

export const APPROVAL_STATUSES = ['pending', 'auto_approved', 'approved', 'rejected', 'expired'] as const

export const APPROVAL_PATHS = ['action', 'tool', 'question'] as const
export type ApprovalPath = (typeof APPROVAL_PATHS)[number]

export const MemberNameView = z.object({ id: z.string(), name: z.string() })

const ApprovalContextView = z
  .object({
    client: z
      .object({ id: z.string(), name: z.string().nullable() })
      .nullable()
      .meta({ description: 'The customer that the task works for.' }),
    thread_id: z.string().nullable(),
    message: z
      .object({
        id: z.string(),
        body: z.string(),
        at: z.string(),
        from: MessageSenderView.nullable(),
        unverified: z.boolean().meta({ description: 'Nothing proves that the customer wrote this mail.' }),
      })
      .nullable()
      .meta({
        description: `The first ${MAX_SHOWN_CHARACTERS} characters of the customer's message that started the task, else of the newest one before the approval.`,
      }),
    case_id: z.string().nullable(),
    requested_by: NamedActorView.nullable().meta({ description: 'Who started the task; null for old tasks.' }),
  })
  .meta({ id: 'ApprovalContext', description: 'What the request is about.' })

const ApprovalVoteView = z.object({ by: NamedActorView, at: z.string() }).meta({ id: 'ApprovalVote' })

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
      description:
        'The amount, if the tool declares where it is. Of an edited payload: the edited amount, also while the edit is held.',
    }),
    payload_sha256: z.string(),
    allowed_decisions: z.array(z.enum(['approve', 'edit', 'reject', 'revise'])),
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
    decided_by: NamedActorView.nullable(),
    context: ApprovalContextView,
    needed: z.number().int().meta({ description: 'How many people must approve the same payload.' }),
    votes: z
      .array(ApprovalVoteView)
      .meta({ description: 'Who has approved the current payload, if several people must. An edit removes them.' }),
    approvers: z.array(z.string()).nullable().meta({
      description:
        'Roles, members and `client`, the client of the task, who may decide; null: every operator, admin and owner.',
    }),
    exclude_requester: z
      .boolean()
      .meta({ description: 'Who started the task (`context.requested_by`) may not decide.' }),
    escalated_at: z.string().nullable().meta({ description: 'When more people were asked, because nobody decided.' }),
    assignee: MemberNameView.nullable().meta({ description: 'The member who is asked to decide.' }),
    comment_count: z.number().int(),
    hold_s: z.number().int().meta({
      description:
        'How many seconds the buttons of the service hold an approval, so that it can be withdrawn; 0: none.',
    }),
    held: HeldApprovalView.nullable().meta({
      description: 'An approval that its person can still withdraw. No other decision is possible meanwhile.',
    }),
    dropped: DroppedApprovalView.nullable().meta({
      description: 'Of a pending request: the last approval that was held and could not be made.',
    }),
  })
  .meta({ id: 'Approval' })

export const DecisionView = z
  .object({ ok: z.literal(true), decision: z.enum(['approved', 'rejected']) })
  .meta({ id: 'Decision' })

const VoteView = z
  .object({ ok: z.literal(true), decision: z.literal('pending'), votes: z.array(ApprovalVoteView), needed: z.number() })
  .meta({ id: 'Vote', description: 'The approval needs the approval of more people.' })

const HeldResultView = z
  .object({ ok: z.literal(true), decision: z.literal('held'), held: HeldApprovalView })
  .meta({ id: 'HeldResult', description: 'The approval is made after `hold_s` seconds, unless it is withdrawn.' })

export const ApproveResultView = z.union([DecisionView, VoteView, HeldResultView]).meta({ id: 'ApproveResult' })

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

/** What the view of an approval shows beside its row. */
export interface ApprovalParts {
  context: ApprovalContextRow
  votes: readonly ApprovalVoteRow[]
  nameOf: NameOf
}

export function toApprovalView(row: ApprovalRow, { context, votes, nameOf }: ApprovalParts) {
  const preview = parseProposedPayload(row)
  const assignee = nameOf('member', row.assignee_id)
  return {
    approval_id: row.id,
    task_id: row.task_id,
    project_id: row.project_id,
    wedge: row.wedge,
    task_type: row.task_type,
    action: row.action,
    risk: row.risk,
    preview,
    ...describeAction(parseTool(row), row, approvedPayload(withHeldEdit(row))),
    payload_sha256: row.payload_sha256,
    allowed_decisions: allowedDecisions(row, preview),
    status: row.status,
    path: row.path,
    to: askedField(row).to ?? null,
    connection: row.connection,
    connection_id: row.connection_id,
    policy_reason: row.policy_reason,
    policy_rule: row.policy_rule && (JSON.parse(row.policy_rule) as JsonObject),
    edited: parseEdit(row),
    reason: row.reason,
    revise: row.revise === 1,
    note: row.note,
    created_at: row.created_at,
    expires_at: row.expires_at,
    decided_at: row.decided_at,
    decided_by: nameOf(row.decided_by_kind, row.decided_by_id),
    context: toContextView(context, nameOf),
    needed: row.needed,
    votes: toVoteViews(votes, nameOf),
    approvers: parseApprovers(row),
    exclude_requester: row.excludes_requester === 1,
    escalated_at: row.escalated_at,
    // Null after the member was removed.
    assignee: assignee?.name ? { id: assignee.id, name: assignee.name } : null,
    comment_count: context.comment_count,
    hold_s: buttonHoldS(row),
    held: row.status === 'pending' ? toHeldView(row, nameOf) : null,
    dropped: row.status === 'pending' ? toDroppedView(row, nameOf) : null,
  }
}

function toContextView(context: ApprovalContextRow, nameOf: ApprovalParts['nameOf']) {
  const { client_id, thread_id, case_id, message_id, body, message_at, from_handle, from_name } = context
  const name = context.client_name ?? context.client_handle
  const from = toMessageSenderView({ direction: 'inbound', from_handle, from_name })
  return {
    client: client_id && { id: client_id, name },
    thread_id,
    message: message_id && { id: message_id, body, at: message_at, from, unverified: context.is_unverified === 1 },
    case_id,
    requested_by: nameOf(context.requested_by_kind, context.requested_by_id),
  }
}

export const toVoteViews = (votes: readonly ApprovalVoteRow[], nameOf: ApprovalParts['nameOf']) =>
  votes.map((vote) => ({ by: nameOf(vote.voter_kind, vote.voter_id), at: vote.created_at }))

/** The roles and members who may decide; null: everyone whose role allows decisions. */
export const parseApprovers = ({ approvers }: Pick<ApprovalRow, 'approvers'>): string[] | null =>
  approvers === null ? null : (JSON.parse(approvers) as string[])

function allowedDecisions({ path }: ApprovalRow, preview: Json): string[] {
  // A question cannot be approved without an answer, which is an edit.
  if (path === 'question') return ['edit', 'reject']
  // The agent itself makes a gated tool call, so the service cannot change its arguments. And an edit replaces fields of
  // the payload: text or a list has none.
  const isEditable = path === 'action' && isJsonObject(preview)
  return isEditable ? ['approve', 'edit', 'reject', 'revise'] : ['approve', 'reject', 'revise']
}

/** What events say about who is asked: of a question, whom; of another request, that the client decides too. */
export function askedField({ path, client_id }: Pick<ApprovalRow, 'path' | 'client_id'>): AskedField {
  if (path === 'question') return { to: client_id === null ? 'team' : 'client' }
  return client_id === null ? {} : { asks_client: true }
}

interface AskedField {
  to?: 'team' | 'client'
  asks_client?: true
}

export const parseProposedPayload = (row: Pick<ApprovalRow, 'payload'>) => JSON.parse(row.payload) as Json

export const parseEdit = (row: Pick<ApprovalRow, 'edited'>): JsonObject | null =>
  row.edited === null ? null : (JSON.parse(row.edited) as JsonObject)

/** The payload that may be sent: the proposed one, with the fields of the edit in place of its own. */
export function approvedPayload(row: Pick<ApprovalRow, 'payload' | 'edited'>): Json {
  const payload = parseProposedPayload(row)
  return row.edited ? { ...(payload as JsonObject), ...parseEdit(row) } : payload
}

export const EffectView = z
  .object({
    approval_id: z.string(),
    task_id: z.string(),
    action: z.string(),
    connection_id: z.string().nullable(),
    connection: z
      .string()
      .nullable()
      .meta({ description: 'Null: nothing was sent, such as a reply that is shown in the portal.' }),
    payload_sha256: z.string(),
    outcome: z.enum(['ok', 'failed', 'unknown', 'sent']),
    status: z.number().nullable(),
    error: z.string().nullable(),
    created_at: z.string(),
    finished_at: z.string().nullable(),
  })
  .meta({ id: 'Action' })

export function toEffectView(row: EffectRow) {
  const {
    id: approval_id,
    project_id: _project,
    message_id: _message,
    replica: _replica,
    result: _result,
    ...view
  } = row
  return { approval_id, ...view }
}
