import type { Language } from '../brand/rows.ts'
import { buttonHtml, escapeHtml, noteHtml, paragraphHtml, quoteHtml } from '../connections/mail/mail-html.ts'

/** The mails of the service to clients, in every language of the portal. `{name}` is the name of the brand. */
interface MailWords {
  team: string
  linkSubject: string
  linkIntro: string
  linkButton: string
  linkNote: string
  noticeSubject: string
  noticeIntro: string
  noticeButton: string
  noticeNote: string
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
    noticeButton: 'Read and reply',
    noticeNote: 'Do not reply to this mail: nobody reads the replies.',
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
    noticeButton: 'Lesen und antworten',
    noticeNote: 'Bitte antworten Sie nicht auf diese E-Mail: Antworten werden nicht gelesen.',
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
    noticeButton: 'Lire et répondre',
    noticeNote: 'Ne répondez pas à cet e-mail : les réponses ne sont pas lues.',
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
    noticeButton: 'Leer y responder',
    noticeNote: 'No responda a este correo: nadie lee las respuestas.',
    unsubscribe: 'No recibir más estos correos',
  },
}

interface MailBrand {
  name: string | null
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
  return {
    subject: withName(words.linkSubject, brand, words),
    text: [words.linkIntro, url, words.linkNote].join('\n\n'),
    html: [
      paragraphHtml(words.linkIntro),
      buttonHtml(words.linkButton, url),
      noteHtml(escapeHtml(words.linkNote)),
    ].join('\n'),
  }
}

/** The mail about an answer in a conversation. */
export function noticeMail(brand: MailBrand, answer: string, urls: { portal: string; unsubscribe: string }): MailBody {
  const words = MAIL_WORDS[brand.language]
  const intro = withName(words.noticeIntro, brand, words)
  const unsubscribe = `<a href="${escapeHtml(urls.unsubscribe)}">${escapeHtml(words.unsubscribe)}</a>`
  return {
    subject: withName(words.noticeSubject, brand, words),
    text: [
      intro,
      answer,
      `${words.noticeButton}: ${urls.portal}`,
      words.noticeNote,
      `${words.unsubscribe}: ${urls.unsubscribe}`,
    ].join('\n\n'),
    html: [
      paragraphHtml(intro),
      quoteHtml(answer),
      buttonHtml(words.noticeButton, urls.portal),
      noteHtml(`${escapeHtml(words.noticeNote)}<br>${unsubscribe}`),
    ].join('\n'),
  }
}

/** The name in a subject must be one line. */
const withName = (text: string, { name }: MailBrand, { team }: MailWords) =>
  text.replace('{name}', () => (name ?? team).replaceAll(/\p{C}+/gu, ' '))
