import type { MessageText } from '../../../client-text/en.ts'
import { type Language, MESSAGE_TEXTS } from '../../../client-text/languages.ts'
import { findBrand } from '../../customers/brand/rows.ts'
import { appendNotice } from '../../customers/threads/reply.ts'
import { formatAmount } from '../../platform/contract/amount.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import type { ApprovalRow } from '../../platform/store/tables.ts'
import { type ActionText, describeAction, nameToWords, parseTool } from '../policy/action-text.ts'
import type { GatedRun } from '../policy/gated-request.ts'
import { approvedPayload } from './view.ts'

/** Says in the thread of the task that the client must decide. A client who does not read it there gets a mail. */
export async function tellClient(tx: Tx, { task }: GatedRun, row: ApprovalRow): Promise<void> {
  if (row.path === 'question' || row.client_id === null || task.thread_id === null) return
  const { language } = await findBrand(tx.db, row.project_id)
  await appendNotice(tx, task, `${describeForClient(row, language).title}. ${MESSAGE_TEXTS[language].decideInPortal}`)
}

/** What a client reads about an action that it decides about: without the names of the action and of the team's connections. */
export function describeForClient(
  row: Pick<ApprovalRow, 'action' | 'tool' | 'payload' | 'edited'>,
  language: Language,
) {
  const tool = parseTool(row)
  const { amount: stated } = describeAction(tool, { connection: null }, approvedPayload(row))
  const amount = stated && toClientAmount(stated, language)
  const price = amount ? ` (${amount.text})` : ''
  return { title: `${requestOf(row.action, tool?.phrase, MESSAGE_TEXTS[language])}${price}`, amount }
}

function requestOf(action: string, phrase: string | undefined, words: MessageText): string {
  if (/:reply$/i.test(action)) return words.confirmReply
  return phrase !== undefined && !isIdentifier(action, phrase) ? words.confirmAction(phrase) : words.confirmStep
}

/** A tool without a description is described by its name, which means nothing to a client. */
const isIdentifier = (action: string, phrase: string) =>
  phrase.toLowerCase() === nameToWords(action.split(':').at(-1) ?? '').toLowerCase()

function toClientAmount({ value, currency, path }: NonNullable<ActionText['amount']>, language: Language) {
  if (value === null || currency === null) return null
  return { value, currency, text: formatAmount({ value, currency }, language), path }
}
