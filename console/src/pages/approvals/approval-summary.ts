import { toObject, toText } from '../../api/json.ts'
import type { Approval, Json, JsonObject } from '../../api/types.ts'

/** What a person must know first: the verb, how much, and whom or what it hits. */
export interface ApprovalHeadline {
  verb: string
  amount: string | null
  target: string | null
}

/** The policy's own order, so that the amount shown is the amount that was judged. */
const AMOUNTS = ['amount_usd', 'amount', 'total', 'value']

const TARGETS = [
  { keys: ['order_id', 'invoice_id', 'case_id', 'booking_id', 'account_id', 'key', 'id'], word: 'for' },
  {
    keys: ['to', 'recipient', 'customer_email', 'email', 'address', 'customer', 'client', 'url', 'channel'],
    word: 'to',
  },
]

type SummarizedApproval = Pick<Approval, 'action' | 'preview' | 'connection' | 'connection_id'> &
  Partial<Pick<Approval, 'edited'>>

export function approvalHeadline(approval: SummarizedApproval): ApprovalHeadline {
  const payload = { ...toObject(approval.preview), ...approval.edited }
  return {
    verb: actionLabel(approval.action, connectionName(approval)),
    amount: amountLabel(payload),
    target: targetLabel(payload),
  }
}

export function approvalSummary(approval: SummarizedApproval): string {
  const { verb, amount, target } = approvalHeadline(approval)
  return [verb, amount && `of ${amount}`, target].filter(Boolean).join(' ')
}

/** By its name; by its id when the connection is gone. */
export const connectionName = ({
  connection,
  connection_id,
}: Pick<SummarizedApproval, 'connection' | 'connection_id'>) => connection ?? connection_id ?? null

/**
 * `payments:refund` is a refund through payments, `book_refund` is to book a refund, `GMAIL_SEND_EMAIL` to send. The agent
 * chooses the action's name, and what stands before the colon need not be where it goes: the connection is said instead.
 */
export function actionLabel(action: string, connection: string | null = null): string {
  const [before = '', after] = action.split(':')
  const way = connection ?? (after ? spaced(before) : null)
  const words = spaced((after ?? before).toLowerCase())
  const aside = connection && after && before !== connection ? ` (${spaced(before)})` : ''
  const said = `${words}${aside}${way ? ` through ${way}` : ''}`
  return said.charAt(0).toUpperCase() + said.slice(1)
}

const spaced = (name: string) => name.replaceAll(/[_-]+/g, ' ').trim()

function amountLabel(payload: JsonObject): string | null {
  const key = AMOUNTS.find((name) => Object.hasOwn(payload, name))
  const amount = key === undefined ? null : payload[key]
  if (typeof amount !== 'number') return null
  const currency = typeof payload['currency'] === 'string' ? payload['currency'].toUpperCase() : 'USD'
  return currency === 'USD' ? `$${amount.toFixed(2)}` : `${amount.toFixed(2)} ${currency}`
}

function targetLabel(payload: JsonObject): string | null {
  const parts = TARGETS.flatMap(({ keys, word }) => {
    const key = keys.find((name) => isTarget(payload[name]))
    if (key === undefined) return []
    const noun = key.endsWith('_id') ? `${key.slice(0, -3).replaceAll('_', ' ')} ` : ''
    return [`${word} ${noun}${targetText(payload[key])}`]
  })
  return parts.length > 0 ? parts.join(', ') : null
}

const isTarget = (value: Json | undefined): boolean =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' || Array.isArray(value)

const targetText = (value: Json | undefined): string =>
  Array.isArray(value) ? value.map(toText).join(', ') : toText(value).slice(0, 80)
