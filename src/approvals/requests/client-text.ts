import type { Language } from '../../customers/brand/rows.ts'
import { formatAmount } from '../../platform/contract/amount.ts'
import type { ApprovalRow } from '../../platform/store/tables.ts'
import { type ActionText, describeAction, nameToWords, parseTool } from '../policy/action-text.ts'
import { approvedPayload } from './view.ts'

/** The request to a client: with the words of the connection for the action, or without any. */
const REQUESTS: Record<Language, { named: (action: string) => string; reply: string; unnamed: string }> = {
  en: {
    named: (action) => `Please confirm: ${action}`,
    reply: 'Please confirm this reply',
    unnamed: 'Please confirm this step',
  },
  de: {
    named: (action) => `Bitte bestätigen Sie: ${capitalize(action)}`,
    reply: 'Bitte bestätigen Sie diese Antwort',
    unnamed: 'Bitte bestätigen Sie diesen Schritt',
  },
  fr: {
    named: (action) => `Veuillez confirmer : ${action}`,
    reply: 'Veuillez confirmer cette réponse',
    unnamed: 'Veuillez confirmer cette étape',
  },
  es: {
    named: (action) => `Por favor, confirme: ${action}`,
    reply: 'Por favor, confirme esta respuesta',
    unnamed: 'Por favor, confirme este paso',
  },
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
  return { title: `${requestOf(row.action, tool?.phrase, REQUESTS[language])}${price}`, amount }
}

function requestOf(action: string, phrase: string | undefined, words: (typeof REQUESTS)[Language]): string {
  if (/:reply$/i.test(action)) return words.reply
  return phrase !== undefined && !isIdentifier(action, phrase) ? words.named(phrase) : words.unnamed
}

/** The words begin in lower case, which is wrong for a German noun, and wrong for no German sentence after a colon. */
const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** A tool without a description is described by its name, which means nothing to a client. */
const isIdentifier = (action: string, phrase: string) =>
  phrase.toLowerCase() === nameToWords(action.split(':').at(-1) ?? '').toLowerCase()

function toClientAmount({ value, currency, path }: NonNullable<ActionText['amount']>, language: Language) {
  if (value === null || currency === null) return null
  return { value, currency, text: formatAmount({ value, currency }, language), path }
}
