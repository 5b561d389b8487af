import { nameActors } from '../accounts/actor-name-rows.ts'
import { describeAction, parseTool } from '../approvals/action-text.ts'
import { approvedPayload } from '../approvals/view.ts'
import { isJsonObject, type Json } from '../base/json.ts'
import { serviceUrl } from '../config/service-url.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { ApprovalRow } from '../store/tables.ts'
import { findClientMessage } from './card-rows.ts'

/** What a message about one approval says, for every service. Texts are plain: each service escapes them itself. */
export interface Card {
  kind: 'card'
  approvalId: string
  /** A decision counts only for this payload. */
  payloadSha256: string
  /** What is asked, in one line. */
  title: string
  wedge: string
  risk: string
  /** Such as "$50.00". */
  amount: string | null
  /** The name of the client whom the request is about. */
  client: string | null
  /** The client's last message. */
  message: string | null
  /** The fields of the payload. Long values are cut. */
  payload: { name: string; value: string }[]
  /** Why the request needs a decision. */
  rule: string | null
  /** Null while it waits for a decision; then who decided what. */
  outcome: string | null
  /** What the member can do; empty once it is decided. */
  decisions: readonly CardDecision[]
  expiresAt: string | null
  /** The page of the console that shows the request. */
  consoleUrl: string
  /** The page where the member decides without signing in; null where buttons do that. */
  decideUrl: string | null
}

export type CardDecision = 'approve' | 'edit' | 'reject'

/** All requests of a day in one message. */
export interface Digest {
  kind: 'digest'
  title: string
  cards: Card[]
}

export type Notice = Card | Digest

const MAX_MESSAGE_CHARACTERS = 1_000
const MAX_VALUE_CHARACTERS = 500
const MAX_FIELDS = 12

export async function readCard(ctx: Pick<Ctx, 'db' | 'config'>, row: ApprovalRow): Promise<Card> {
  const payload = approvedPayload(row)
  const { text, amount } = describeAction(parseTool(row), row, payload)
  const [about] = await findClientMessage(ctx.db, { task_id: row.task_id })
  return {
    kind: 'card',
    approvalId: row.id,
    payloadSha256: row.payload_sha256,
    title: titleOf(row, text, payload),
    wedge: row.wedge,
    risk: row.risk,
    amount: amount?.text ?? null,
    client: about?.client ?? null,
    message: about?.body ? cut(about.body, MAX_MESSAGE_CHARACTERS) : null,
    payload: toFields(payload),
    rule: row.policy_reason,
    outcome: row.status === 'pending' ? null : await outcomeOf(ctx, row),
    decisions: row.status === 'pending' ? decisionsOf(row, payload) : [],
    expiresAt: row.expires_at,
    consoleUrl: serviceUrl(ctx.config, `/tasks/${row.task_id}`),
    decideUrl: null,
  }
}

export const toDigest = (cards: Card[]): Digest => ({
  kind: 'digest',
  title: cards.length === 1 ? '1 request needs a decision' : `${cards.length} requests need a decision`,
  cards,
})

function titleOf({ path, action, connection }: ApprovalRow, text: string | null, payload: Json): string {
  if (path === 'question' && isJsonObject(payload) && typeof payload.question === 'string') {
    return oneLine(payload.question)
  }
  return oneLine(
    text ?? (connection === null || action.startsWith(`${connection}:`) ? action : `${connection}: ${action}`),
  )
}

/** A question needs an answer, which is an edit. Only the payload of an action can be edited, and only if it has fields. */
function decisionsOf({ path }: ApprovalRow, payload: Json): CardDecision[] {
  if (path === 'question') return ['edit', 'reject']
  return path === 'action' && isJsonObject(payload) ? ['approve', 'edit', 'reject'] : ['approve', 'reject']
}

async function outcomeOf({ db }: Pick<Ctx, 'db'>, row: ApprovalRow): Promise<string> {
  if (row.status === 'expired') return 'Expired: nobody decided in time'
  const decider = { kind: row.decided_by_kind, id: row.decided_by_id }
  const by = (await nameActors(db, [decider]))(decider.kind, decider.id)?.name ?? row.decided_by_kind ?? 'the service'
  if (row.status !== 'rejected') return row.edited === null ? `Approved by ${by}` : `Approved with changes by ${by}`
  const what = row.revise === 1 ? 'Sent back' : 'Rejected'
  return row.reason === null
    ? `${what} by ${by}`
    : `${what} by ${by}: ${cut(oneLine(row.reason), MAX_VALUE_CHARACTERS)}`
}

function toFields(payload: Json): Card['payload'] {
  if (!isJsonObject(payload)) return [{ name: 'payload', value: toText(payload) }]
  return Object.entries(payload)
    .slice(0, MAX_FIELDS)
    .map(([name, value]) => ({ name, value: toText(value) }))
}

const toText = (value: Json) => cut(typeof value === 'string' ? value : JSON.stringify(value), MAX_VALUE_CHARACTERS)

const oneLine = (text: string) => text.replaceAll(/[\p{C}\s]+/gu, ' ').trim()

const cut = (text: string, max: number) => (text.length <= max ? text : `${text.slice(0, max).trimEnd()} …`)
