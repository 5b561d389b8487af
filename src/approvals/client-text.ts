import type { ApprovalRow } from '../store/tables.ts'
import { type ActionText, describeAction, parseTool } from './action-text.ts'
import { approvedPayload } from './view.ts'

/** What a client reads about an action that it decides about: without the names of the team's connections. */
export function describeForClient(row: Pick<ApprovalRow, 'action' | 'tool' | 'payload' | 'edited'>) {
  const { text, amount } = describeAction(parseTool(row), { connection: null }, approvedPayload(row))
  const name = row.action.split(':').at(-1) ?? row.action
  return {
    title: text ?? name.replaceAll(/[_-]+/g, ' '),
    amount: amount && amount.value !== null ? toClientAmount(amount, amount.value) : null,
  }
}

const toClientAmount = ({ currency, text, path }: NonNullable<ActionText['amount']>, value: number) => ({
  value,
  currency,
  text,
  path,
})
