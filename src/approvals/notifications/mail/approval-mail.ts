import { escapeHtml } from '../../../platform/base/text.ts'
import { buttonHtml, noteHtml, paragraphHtml, quoteHtml } from '../../../connections/mail/mail-html.ts'
import type { Card, Notice } from '../card.ts'
import { UNVERIFIED_TEXT } from '../card-text.ts'

/** A type, because an interface is not a `JsonObject`. */
export type MailText = { subject: string; text: string; html: string }

const MAX_SUBJECT_CHARACTERS = 150

/** The mail about one request, or the digest of several. */
export function approvalMail(notice: Notice): MailText {
  if (notice.kind === 'card') {
    return {
      subject: cutSubject(`Approval needed: ${notice.title}`),
      text: `${cardText(notice)}\n\n${FOOTER}`,
      html: `${cardHtml(notice)}\n${noteHtml(escapeHtml(FOOTER))}`,
    }
  }
  const more = notice.more > 0 ? [`${notice.more} more in the console`] : []
  return {
    subject: cutSubject(notice.title),
    text: `${[...notice.cards.map(cardText), ...more].join('\n\n---\n\n')}\n\n${FOOTER}`,
    html: `${[...notice.cards.map(cardHtml), ...more.map(paragraphHtml)].join('\n<hr>\n')}\n${noteHtml(escapeHtml(FOOTER))}`,
  }
}

/** The mail that asks a member to confirm the address. */
export function confirmationMail(url: string): MailText {
  return {
    subject: 'Confirm this address for approval mails',
    text: [CONFIRM_INTRO, url, CONFIRM_NOTE].join('\n\n'),
    html: [paragraphHtml(CONFIRM_INTRO), buttonHtml('Confirm', url), noteHtml(escapeHtml(CONFIRM_NOTE))].join('\n'),
  }
}

const CONFIRM_INTRO = 'Confirm that you want to get mails about approvals at this address.'
const CONFIRM_NOTE = 'The link works once, for one hour. If you did not ask for it, ignore this mail.'
const FOOTER =
  'The link works once and only for you: do not forward this mail. You can change what you get under Settings, Notifications.'

const DECIDE_LABEL = 'Review and decide'

function cardText(card: Card): string {
  const { client, message, payload, rule } = card
  return [
    card.title,
    facts(card).join('\n'),
    message && `${client ?? 'The client'} wrote:\n${message}`,
    payload.map(({ name, value }) => `${name}: ${value}`).join('\n'),
    rule && `Why you are asked: ${rule}`,
    `${DECIDE_LABEL}: ${card.decideUrl ?? card.consoleUrl}`,
  ]
    .filter(Boolean)
    .join('\n\n')
}

function cardHtml(card: Card): string {
  const { client, message, payload, rule } = card
  const rows = payload.map(
    ({ name, value }) =>
      `<tr><th align="left" valign="top">${escapeHtml(name)}</th><td style="white-space:pre-wrap">${escapeHtml(value)}</td></tr>`,
  )
  return [
    `<h2>${escapeHtml(card.title)}</h2>`,
    `<p>${facts(card).map(escapeHtml).join('<br>')}</p>`,
    message && `${paragraphHtml(`${client ?? 'The client'} wrote:`)}\n${quoteHtml(message)}`,
    rows.length > 0 && `<table cellpadding="4">${rows.join('')}</table>`,
    rule && paragraphHtml(`Why you are asked: ${rule}`),
    buttonHtml(DECIDE_LABEL, card.decideUrl ?? card.consoleUrl),
  ]
    .filter(Boolean)
    .join('\n')
}

function facts({ isUnverified, risk, amount, client, wedge, expiresAt, progress }: Card): string[] {
  return [
    ...(isUnverified ? [UNVERIFIED_TEXT] : []),
    `Risk: ${risk}`,
    ...(amount === null ? [] : [`Amount: ${amount}`]),
    ...(client === null ? [] : [`Client: ${client}`]),
    `Wedge: ${wedge}`,
    ...(progress === null ? [] : [`Approvals: ${progress}`]),
    ...(expiresAt === null ? [] : [`Expires: ${expiresAt.slice(0, 16).replace('T', ' ')} UTC`]),
  ]
}

const cutSubject = (text: string) =>
  text.length <= MAX_SUBJECT_CHARACTERS ? text : `${text.slice(0, MAX_SUBJECT_CHARACTERS - 1)}…`
