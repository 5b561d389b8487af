import * as de from './de.ts'
import * as en from './en.ts'
import * as es from './es.ts'
import * as fr from './fr.ts'

/** The languages of everything that clients read. A new one is a file like `en.ts`, and its name here. */
export const LANGUAGES = ['en', 'de', 'fr', 'es'] as const
export type Language = (typeof LANGUAGES)[number]

type Texts<Text> = Record<Language, Text>

// One table for each part, so that the script of the chat window has only its own part.
export const LANGUAGE_NAMES: Texts<string> = {
  en: en.languageName,
  de: de.languageName,
  fr: fr.languageName,
  es: es.languageName,
}
export const PORTAL_TEXTS: Texts<en.PortalText> = { en: en.portal, de: de.portal, fr: fr.portal, es: es.portal }
export const WIDGET_TEXTS: Texts<en.WidgetText> = { en: en.widget, de: de.widget, fr: fr.widget, es: es.widget }
export const MAIL_TEXTS: Texts<en.MailText> = { en: en.mail, de: de.mail, fr: fr.mail, es: es.mail }
export const MESSAGE_TEXTS: Texts<en.MessageText> = { en: en.message, de: de.message, fr: fr.message, es: es.message }

export const toLanguage = (name: string): Language => LANGUAGES.find((known) => known === name) ?? 'en'
