import { type HeldApproval, parseHeld, withHeldEdit } from '../requests/held-approval.ts'
import { readApprovalView, readApprovalViews } from '../decisions/read-approvals.ts'
import { approvedPayload } from '../requests/view.ts'
import { isJsonObject, type Json } from '../../platform/base/json.ts'
import { oneLine } from '../../platform/base/text.ts'
import { serviceUrl } from '../../platform/config/service-url.ts'
import { formatAmount, readAmount } from '../../platform/contract/amount.ts'
import { isFileReference } from '../../platform/contract/file-reference.ts'
import { AMOUNT_KEYS } from '../../platform/contract/undeclared-amount.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { ApprovalRow } from '../../platform/store/tables.ts'

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
  /** The message that the task answers. */
  message: string | null
  /** Nothing proves who wrote the message. */
  isUnverified: boolean
  /** The fields of the payload. Long values are cut. */
  payload: { name: string; value: string }[]
  /** Why the request needs a decision. */
  rule: string | null
  /** Who has approved so far, if several people must and it waits for a decision. */
  progress: string | null
  /** Who has approved and can still withdraw it; null otherwise. */
  held: string | null
  /** The member who gets the message can withdraw it. */
  canUndo: boolean
  /** Null while it waits for a decision; then who decided what. */
  outcome: string | null
  /** What the member can do: approve, edit, reject, revise. Empty once it is decided. */
  decisions: readonly string[]
  expiresAt: string | null
  /** The page of the console that shows the request. */
  consoleUrl: string
  /** The page where the member decides without signing in; null where buttons do that. */
  decideUrl: string | null
}

/** Several requests in one message. */
export interface Digest {
  kind: 'digest'
  title: string
  /** The first requests. */
  cards: Card[]
  /** How many requests there are besides `cards`. */
  more: number
}

export type Notice = Card | Digest

const MAX_MESSAGE_CHARACTERS = 1_000
const MAX_VALUE_CHARACTERS = 500
const MAX_NAME_CHARACTERS = 100
const MAX_FIELDS = 12

export async function readCard(ctx: Pick<Ctx, 'db' | 'config'>, row: ApprovalRow): Promise<Card> {
  return toCard(ctx, row, await readApprovalView(ctx.db, row))
}

/** The cards of several approvals, with as many statements as for one. */
export async function readCards(ctx: Pick<Ctx, 'db' | 'config'>, rows: readonly ApprovalRow[]): Promise<Card[]> {
  const views = await readApprovalViews(ctx.db, rows)
  return rows.flatMap((row, n) => {
    const view = views[n]
    return view ? [toCard(ctx, row, view)] : []
  })
}

type ReadView = Awaited<ReturnType<typeof readApprovalView>>

function toCard({ config }: Pick<Ctx, 'config'>, row: ApprovalRow, view: ReadView): Card {
  const { client, message } = view.context
  const payload = approvedPayload(withHeldEdit(row))
  const amount = view.amount?.text ?? statedAmount(payload)
  const held = parseHeld(row)
  const from = (client && client.name) || (message && message.from?.name)
  return {
    kind: 'card',
    approvalId: row.id,
    payloadSha256: row.payload_sha256,
    title: titleOf(row, view.text, { payload, amount }),
    wedge: row.wedge,
    risk: row.risk,
    amount,
    client: from ? cut(oneLine(from), MAX_NAME_CHARACTERS) : null,
    message: message && message.body !== null ? cut(message.body, MAX_MESSAGE_CHARACTERS) : null,
    isUnverified: Boolean(message && message.unverified),
    payload: toFields(payload),
    rule: row.policy_reason,
    progress: row.status === 'pending' && row.needed > 1 ? progressOf(row, view.votes) : null,
    held: row.status === 'pending' && held ? heldText(held, row.held_until, view.held?.by?.name ?? null) : null,
    canUndo: false,
    outcome: row.status === 'pending' ? null : outcomeOf(row, view.decided_by?.name ?? null),
    decisions: row.status === 'pending' && !held ? view.allowed_decisions : [],
    expiresAt: row.expires_at,
    consoleUrl: serviceUrl(config, `/tasks/${row.task_id}`),
    decideUrl: null,
  }
}

/** A digest shows at most this many requests; the others are in the console. */
export const MAX_DIGEST_CARDS = 50

export const toDigest = (cards: Card[], count: number): Digest => ({
  kind: 'digest',
  title: count === 1 ? '1 request needs a decision' : `${count} requests need a decision`,
  cards,
  more: count - cards.length,
})

function titleOf(
  { path, action, connection }: ApprovalRow,
  text: string | null,
  { payload, amount }: { payload: Json; amount: string | null },
): string {
  const asked = path === 'question' && isJsonObject(payload) ? payload.question : text
  const named = connection === null || action.startsWith(`${connection}:`) ? action : `${connection}: ${action}`
  // A text of invisible characters only would leave the message without a title, which Slack refuses.
  return (typeof asked === 'string' && oneLine(asked)) || oneLine(amount === null ? named : `${named} of ${amount}`)
}

/** The largest amount of a payload whose tool declares none: people tell four refunds apart by it. */
function statedAmount(payload: Json): string | null {
  if (!isJsonObject(payload)) return null
  const currency = Object.hasOwn(payload, 'currency') ? { currency_path: 'currency' } : { currency: 'USD' }
  const stated = AMOUNT_KEYS.filter((path) => Object.hasOwn(payload, path)).map((path) =>
    readAmount({ path, unit: 'major', ...currency }, payload),
  )
  const amounts = stated.flatMap((one) => ('problem' in one ? [] : [one])).toSorted((a, b) => b.value - a.value)
  return amounts[0] && amounts.length === stated.length ? formatAmount(amounts[0]) : null
}

function progressOf({ needed, edited }: ApprovalRow, votes: readonly { by: { name: string | null } | null }[]): string {
  const names = votes.map(({ by }) => by?.name ?? 'a removed person').join(', ')
  const count = `${votes.length} of ${needed} approved${names === '' ? '' : `: ${names}`}`
  return oneLine(edited === null ? count : `${count}. An approver has changed the request.`)
}

function heldText({ made_at }: HeldApproval, until: string | null, name: string | null): string {
  const seconds = Math.round((Date.parse(until ?? made_at) - Date.parse(made_at)) / 1000)
  return `Approved${name === null ? '' : ` by ${oneLine(name)}`}. Sending in ${seconds} s`
}

function outcomeOf({ status, edited, revise, reason }: ApprovalRow, name: string | null): string {
  if (status === 'expired') return 'Expired: nobody decided in time'
  const by = name === null ? '' : ` by ${name}`
  if (status !== 'rejected') return edited === null ? `Approved${by}` : `Approved with changes${by}`
  const what = revise === 1 ? 'Sent back' : 'Rejected'
  return `${what}${by}${reason === null ? '' : `: ${cut(oneLine(reason), MAX_VALUE_CHARACTERS)}`}`
}

function toFields(payload: Json): Card['payload'] {
  if (!isJsonObject(payload)) return [{ name: 'payload', value: toText(payload) }]
  return Object.entries(payload)
    .slice(0, MAX_FIELDS)
    .map(([name, value]) => ({ name: cut(name, MAX_NAME_CHARACTERS), value: toText(value) }))
}

const toText = (value: Json) => cut(typeof value === 'string' ? value : jsonText(value), MAX_VALUE_CHARACTERS)

/** A file is shown by its name. */
const jsonText = (value: Json): string =>
  isFileReference(value) && typeof value.name === 'string' ? value.name : JSON.stringify(value)

/** Half of a character, such as of an emoji that was cut, would make Telegram refuse the whole message. */
export const cut = (text: string, max: number) =>
  (text.length <= max
    ? text
    : `${text
        .slice(0, max)
        .replace(/[\uD800-\uDBFF]$/, '')
        .trimEnd()} …`
  ).toWellFormed()
