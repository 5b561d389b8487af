import type { MailText } from '../../../client-text/en.ts'
import { type Language, MAIL_TEXTS } from '../../../client-text/languages.ts'
import { escapeHtml } from '../../platform/base/text.ts'
import { buttonHtml, noteHtml, paragraphHtml, quoteHtml } from '../../connections/mail/mail-html.ts'

interface MailBrand {
  name: string | null
  color: string | null
  language: Language
}

interface MailBody {
  subject: string
  text: string
  html: string
}

/** The mail with a sign-in link. */
export function linkMail(brand: MailBrand, url: string): MailBody {
  const words = MAIL_TEXTS[brand.language]
  const link = buttonHtml(words.linkButton, url, brand.color)
  return {
    subject: withName(words.linkSubject, brand, words),
    text: [words.linkIntro, url, words.linkNote].join('\n\n'),
    html: [paragraphHtml(words.linkIntro), link, noteHtml(escapeHtml(words.linkNote))].join('\n'),
  }
}

/** What a mail about an answer leads to. */
interface NoticeUrls {
  portal: string
  unsubscribe: string
}

/** A message that the client has not read. */
export interface UnreadMessage {
  text: string
  /** Whether the agent waits for the client's answer to it. */
  isQuestion: boolean
}

/** The mail about a message in a conversation. `isAnswerable`: a reply to the mail continues the conversation. */
export function noticeMail(
  brand: MailBrand,
  { text, isQuestion, isAnswerable }: UnreadMessage & { isAnswerable: boolean },
  urls: NoticeUrls,
): MailBody {
  const words = MAIL_TEXTS[brand.language]
  const intro = withName(isQuestion ? words.questionIntro : words.noticeIntro, brand, words)
  const notes = isAnswerable ? [] : [words.noticeNote]
  return {
    subject: noticeSubject(brand, isQuestion),
    text: [
      intro,
      text,
      `${words.noticeButton}: ${urls.portal}`,
      ...notes,
      `${words.unsubscribe}: ${urls.unsubscribe}`,
    ].join('\n\n'),
    html: [
      paragraphHtml(intro),
      quoteHtml(text),
      buttonHtml(words.noticeButton, urls.portal, brand.color),
      noteHtml([...notes.map(escapeHtml), unsubscribeLink(words, urls)].join('<br>')),
    ].join('\n'),
  }
}

/** Like `noticeMail`, for an address that may belong to another person: it has no text of the conversation. */
export function chatNoticeMail(
  brand: MailBrand,
  { isQuestion }: Pick<UnreadMessage, 'isQuestion'>,
  urls: { page: string | null; unsubscribe: string },
): MailBody {
  const words = MAIL_TEXTS[brand.language]
  const intro = withName(isQuestion ? words.chatQuestionIntro : words.chatIntro, brand, words)
  const page = urls.page === null ? [] : [urls.page]
  return {
    subject: noticeSubject(brand, isQuestion),
    text: [intro, words.chatHint, ...page, `${words.unsubscribe}: ${urls.unsubscribe}`].join('\n\n'),
    html: [
      paragraphHtml(intro),
      paragraphHtml(words.chatHint),
      ...page.map((url) => buttonHtml(words.chatButton, url, brand.color)),
      noteHtml(unsubscribeLink(words, urls)),
    ].join('\n'),
  }
}

function noticeSubject(brand: MailBrand, isQuestion: boolean): string {
  const words = MAIL_TEXTS[brand.language]
  return withName(isQuestion ? words.questionSubject : words.noticeSubject, brand, words)
}

/** The name in a subject must be one line. */
const withName = (text: string, { name }: MailBrand, { team }: MailText) =>
  text.replace('{name}', () => (name ?? team).replaceAll(/\p{C}+/gu, ' '))

const unsubscribeLink = ({ unsubscribe }: MailText, urls: Pick<NoticeUrls, 'unsubscribe'>) =>
  `<a href="${escapeHtml(urls.unsubscribe)}">${escapeHtml(unsubscribe)}</a>`
