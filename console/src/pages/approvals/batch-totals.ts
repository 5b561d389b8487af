import { formatMoney } from '../../ui/format.ts'
import { approvalMoney, connectionName } from './approval-summary.ts'
import { approvalsText } from './text.ts'

const text = approvalsText.batch

/** The actions of one kind in a batch, with the sum of each currency. */
interface KindTotal {
  noun: ActionNoun
  connection: string | null
  count: number
  /** By currency. */
  sums: Map<string, number>
  withoutAmount: number
}

type TotalledApproval = Parameters<typeof approvalMoney>[0]

/** What a batch does in words, such as "4 refunds, $450.00 · 2 messages". */
export function batchTotals(approvals: readonly TotalledApproval[]): string {
  const kindOf = (one: TotalledApproval) => `${actionNoun(one.action).many} ${connectionName(one) ?? ''}`
  const kinds = [...new Set(approvals.map(kindOf))]
  const totals = kinds.map((kind) => kindTotal(approvals.filter((one) => kindOf(one) === kind)))
  return totals.map((total) => totalText(total, totals)).join(' · ')
}

function kindTotal(approvals: readonly TotalledApproval[]): KindTotal {
  const [first] = approvals
  const sums = new Map<string, number>()
  const amounts = approvals.flatMap((one) => approvalMoney(one) ?? [])
  for (const { value, currency } of amounts) sums.set(currency, (sums.get(currency) ?? 0) + value)
  return {
    noun: actionNoun(first?.action ?? ''),
    connection: first ? connectionName(first) : null,
    count: approvals.length,
    sums,
    withoutAmount: approvals.length - amounts.length,
  }
}

function totalText({ noun, connection, count, sums, withoutAmount }: KindTotal, totals: KindTotal[]): string {
  const isAmbiguous = totals.filter((other) => other.noun.many === noun.many).length > 1
  const through = isAmbiguous && connection !== null ? ` ${approvalsText.summary.through(connection)}` : ''
  const actions = `${text.actions(count, noun)}${through}`
  if (sums.size === 0) return actions
  const amounts = [...sums].map(([currency, sum]) => formatMoney(withoutBinaryError(sum), currency)).join(' + ')
  return [actions, amounts, ...(withoutAmount > 0 ? [text.withoutAmount(withoutAmount)] : [])].join(', ')
}

/** 0.1 + 0.2 is shown as 0.3. */
const withoutBinaryError = (sum: number) => Number(sum.toFixed(6))

export interface ActionNoun {
  one: string
  many: string
}

/** Verbs that say nothing more than that the thing is made: "create_refund" is a refund. */
const MAKING_VERBS = ['create', 'book', 'send', 'issue', 'make', 'post', 'add', 'publish']
const NOUN_OF_VERB: Record<string, string> = { send: 'message', publish: 'publication' }

/** What one action of this name is called: `stripe:create_refund` is a refund. Other verbs stay: "delete user". */
function actionNoun(action: string): ActionNoun {
  const name = action.slice(action.indexOf(':') + 1).toLowerCase()
  const [first = '', ...rest] = name.split(/[\s_-]+/).filter(Boolean)
  const isMade = MAKING_VERBS.includes(first) && rest.length > 0
  const noun = isMade ? rest.join(' ') : [first, ...rest].join(' ')
  if (!isMade && rest.length > 0) return text.requests(noun)
  const single = NOUN_OF_VERB[noun] ?? noun
  return { one: single, many: /[^aeiou]y$/.test(single) ? `${single.slice(0, -1)}ies` : `${single}s` }
}
