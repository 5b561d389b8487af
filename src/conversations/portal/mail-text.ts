import type { Language } from '../../customers/brand/rows.ts'
import { escapeHtml } from '../../platform/base/text.ts'
import { buttonHtml, noteHtml, paragraphHtml, quoteHtml } from '../../connections/mail/mail-html.ts'

/** The mails of the service to clients, in every language of the portal. `{name}` is the name of the brand. */
interface MailWords {
  team: string
  linkSubject: string
  linkIntro: string
  linkButton: string
  linkNote: string
  noticeSubject: string
  noticeIntro: string
  questionSubject: string
  questionIntro: string
  noticeButton: string
  noticeNote: string
  /** For an address that the client only typed: the text stays in the chat window. */
  chatIntro: string
  chatQuestionIntro: string
  chatHint: string
  chatButton: string
  unsubscribe: string
}

const MAIL_WORDS: Record<Language, MailWords> = {
  en: {
    team: 'the team',
    linkSubject: 'Your sign-in link for {name}',
    linkIntro: 'Use this link to sign in. It works once, on one device, for seven days.',
    linkButton: 'Sign in',
    linkNote: 'If you did not ask for this link, ignore this mail.',
    noticeSubject: 'New answer from {name}',
    noticeIntro: '{name} answered you:',
    questionSubject: 'Question from {name}',
    questionIntro: 'You have a question from {name}:',
    noticeButton: 'Read and reply',
    noticeNote: 'Do not reply to this mail: replies are not read.',
    chatIntro: 'You have a new answer from {name}.',
    chatQuestionIntro: 'You have a question from {name}.',
    chatHint: 'To read it, open the chat on our website, in the browser in which you wrote to us.',
    chatButton: 'Open the website',
    unsubscribe: 'Stop these mails',
  },
  de: {
    team: 'unserem Team',
    linkSubject: 'Ihr Anmeldelink für {name}',
    linkIntro: 'Mit diesem Link melden Sie sich an. Er gilt einmal, auf einem Gerät, sieben Tage lang.',
    linkButton: 'Anmelden',
    linkNote: 'Wenn Sie diesen Link nicht angefordert haben, ignorieren Sie diese E-Mail.',
    noticeSubject: 'Neue Antwort von {name}',
    noticeIntro: 'Sie haben eine Antwort von {name}:',
    questionSubject: 'Frage von {name}',
    questionIntro: 'Sie haben eine Frage von {name}:',
    noticeButton: 'Lesen und antworten',
    noticeNote: 'Bitte antworten Sie nicht auf diese E-Mail: Antworten werden nicht gelesen.',
    chatIntro: 'Sie haben eine neue Antwort von {name}.',
    chatQuestionIntro: 'Sie haben eine Frage von {name}.',
    chatHint:
      'Um sie zu lesen, öffnen Sie den Chat auf unserer Website, in dem Browser, in dem Sie uns geschrieben haben.',
    chatButton: 'Website öffnen',
    unsubscribe: 'Diese E-Mails abbestellen',
  },
  fr: {
    team: 'notre équipe',
    linkSubject: 'Votre lien de connexion pour {name}',
    linkIntro: 'Utilisez ce lien pour vous connecter. Il fonctionne une fois, sur un appareil, pendant sept jours.',
    linkButton: 'Se connecter',
    linkNote: "Si vous n'avez pas demandé ce lien, ignorez cet e-mail.",
    noticeSubject: 'Nouvelle réponse de {name}',
    noticeIntro: 'Vous avez une réponse de {name} :',
    questionSubject: 'Question de {name}',
    questionIntro: 'Vous avez une question de {name} :',
    noticeButton: 'Lire et répondre',
    noticeNote: 'Ne répondez pas à cet e-mail : les réponses ne sont pas lues.',
    chatIntro: 'Vous avez une nouvelle réponse de {name}.',
    chatQuestionIntro: 'Vous avez une question de {name}.',
    chatHint: 'Pour la lire, ouvrez le chat sur notre site, dans le navigateur avec lequel vous nous avez écrit.',
    chatButton: 'Ouvrir le site',
    unsubscribe: 'Ne plus recevoir ces e-mails',
  },
  es: {
    team: 'nuestro equipo',
    linkSubject: 'Su enlace de acceso a {name}',
    linkIntro: 'Use este enlace para entrar. Funciona una vez, en un dispositivo, durante siete días.',
    linkButton: 'Entrar',
    linkNote: 'Si no ha pedido este enlace, ignore este correo.',
    noticeSubject: 'Nueva respuesta de {name}',
    noticeIntro: 'Tiene una respuesta de {name}:',
    questionSubject: 'Pregunta de {name}',
    questionIntro: 'Tiene una pregunta de {name}:',
    noticeButton: 'Leer y responder',
    noticeNote: 'No responda a este correo: las respuestas no se leen.',
    chatIntro: 'Tiene una nueva respuesta de {name}.',
    chatQuestionIntro: 'Tiene una pregunta de {name}.',
    chatHint: 'Para leerla, abra el chat en nuestro sitio web, en el navegador con el que nos escribió.',
    chatButton: 'Abrir el sitio web',
    unsubscribe: 'No recibir más estos correos',
  },
}

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
  const words = MAIL_WORDS[brand.language]
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
  const words = MAIL_WORDS[brand.language]
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
  const words = MAIL_WORDS[brand.language]
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
  const words = MAIL_WORDS[brand.language]
  return withName(isQuestion ? words.questionSubject : words.noticeSubject, brand, words)
}

/** The name in a subject must be one line. */
const withName = (text: string, { name }: MailBrand, { team }: MailWords) =>
  text.replace('{name}', () => (name ?? team).replaceAll(/\p{C}+/gu, ' '))

const unsubscribeLink = ({ unsubscribe }: MailWords, urls: Pick<NoticeUrls, 'unsubscribe'>) =>
  `<a href="${escapeHtml(urls.unsubscribe)}">${escapeHtml(unsubscribe)}</a>`
