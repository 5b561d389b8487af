import { toObject, toText } from '../../api/json.ts'
import type { Approval, Json, JsonObject } from '../../api/types.ts'
import { capitalize } from '../../ui/humanize.ts'
import { declaredMoney, guessedMoney, type Money, moneyText } from './amount.ts'
import { approvalsText } from './text.ts'

const text = approvalsText.summary

/** The parts of the headline: the action, the amount, and the recipient or subject. */
export interface ApprovalHeadline {
  action: string
  amount: string | null
  target: string | null
}

const TARGET_FIELDS = [
  { fields: ['order_id', 'invoice_id', 'case_id', 'booking_id', 'account_id', 'key', 'id'], phrase: text.for },
  {
    fields: ['to', 'recipient', 'customer_email', 'email', 'address', 'customer', 'client', 'url', 'channel'],
    phrase: text.to,
  },
]

type SummarizedApproval = Pick<Approval, 'action' | 'preview'> &
  Partial<Pick<Approval, 'connection' | 'connection_id' | 'edited' | 'held' | 'path' | 'text' | 'amount'>>

export function approvalHeadline(approval: SummarizedApproval): ApprovalHeadline {
  if (approval.path === 'question') return { action: questionTitle(approval), amount: null, target: null }
  const payload = editedPayload(approval)
  const money = approvalMoney(approval)
  const action = toolLabel(approval) ?? actionLabel(approval.action, connectionName(approval))
  return { action, amount: money && moneyText(money), target: targetLabel(payload, action) }
}

const questionTitle = ({ preview }: SummarizedApproval) =>
  approvalsText.question.title(toText(toObject(preview)['question']))

/** The headline as one line, such as "Book refund of $84.50 for order A-1001". */
export function approvalSummary(approval: SummarizedApproval): string {
  const { action, amount, target } = approvalHeadline(approval)
  return [action, amount && `${text.of} ${amount}`, target].filter(Boolean).join(' ')
}

/** The name of the connection, or its id if the connection was deleted. */
export const connectionName = ({
  connection,
  connection_id,
}: Pick<SummarizedApproval, 'connection' | 'connection_id'>) => connection ?? connection_id ?? null

/**
 * `payments:refund` becomes "Refund through payments", `book_refund` becomes "Book refund". The agent chooses the name of
 * the action, so the part before the colon may differ from the connection; the label always names the real connection.
 */
export function actionLabel(action: string, connection: string | null = null): string {
  const [before = '', after] = action.split(':')
  const through = connection ?? (after ? spaced(before) : null)
  const words = spaced((after ?? before).toLowerCase())
  const claimed = connection && after && before !== connection ? ` (${spaced(before)})` : ''
  return capitalize(`${words}${claimed}${through ? ` ${text.through(through)}` : ''}`)
}

const spaced = (name: string) => name.replaceAll(/[_-]+/g, ' ').trim()

/** What the tool does in the server's words, without the amount, which the headline shows apart: it may be edited. */
function toolLabel({ text: words, amount }: SummarizedApproval): string | null {
  if (!words) return null
  const price = amount ? ` of ${amount.text}` : ''
  return price !== '' && words.endsWith(price) ? words.slice(0, -price.length) : words
}

/** The amount of the payload that would be sent; null if it states none. */
export function approvalMoney(approval: SummarizedApproval): Money | null {
  const payload = editedPayload(approval)
  return approval.amount ? declaredMoney(approval.amount, payload) : guessedMoney(payload)
}

/** The proposed payload with the edited fields; while an approval is held, with those of its edit. */
export const editedPayload = ({ preview, edited, held }: SummarizedApproval): JsonObject => ({
  ...toObject(preview),
  ...(held?.edited ?? edited),
})

/** Without what the action names already: the server's words for a mail end with its recipient. */
function targetLabel(payload: JsonObject, action: string): string | null {
  const parts = TARGET_FIELDS.flatMap(({ fields, phrase }) => {
    const field = fields.find((name) => isTarget(payload[name]))
    if (field === undefined || action.includes(` ${phrase(targetText([payload[field] ?? ''].flat()[0]))}`)) return []
    const noun = field.endsWith('_id') ? `${field.slice(0, -3).replaceAll('_', ' ')} ` : ''
    return [phrase(`${noun}${targetText(payload[field])}`)]
  })
  return parts.length > 0 ? parts.join(', ') : null
}

const isTarget = (value: Json): boolean =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' || Array.isArray(value)

const targetText = (value: Json): string =>
  Array.isArray(value) ? value.map(toText).join(', ') : toText(value).slice(0, 80)
