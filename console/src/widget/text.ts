/** The texts of the chat window, in the language of the brand. */
export interface WidgetText {
  chat: string
  open: string
  openWithUnread: (count: number) => string
  close: string
  welcome: string
  messages: string
  message: string
  send: string
  you: string
  working: string
  notSent: string
  notAllowed: string
  tooMany: string
  tryAgain: string
  offline: string
  contact: string
  /** If the service mails answers to visitors. */
  contactForMail: string
  contactHint: string
  name: string
  email: string
}

const en: WidgetText = {
  chat: 'Chat',
  open: 'Open the chat',
  openWithUnread: (count) => `Open the chat, ${count} new`,
  close: 'Close the chat',
  welcome: 'How can we help?',
  messages: 'Messages',
  message: 'Your message',
  send: 'Send',
  you: 'You',
  working: 'An answer is being written',
  notSent: 'Not sent.',
  notAllowed: 'The chat is not available on this page.',
  tooMany: 'Too many messages. Wait a few minutes.',
  tryAgain: 'Try again',
  offline: 'The chat cannot be reached at the moment.',
  contact: 'Leave your email address',
  contactForMail: 'Also send me the answer by email',
  contactHint: 'Optional. Sent with your next message.',
  name: 'Name',
  email: 'Email',
}

const de: WidgetText = {
  chat: 'Chat',
  open: 'Chat öffnen',
  openWithUnread: (count) => `Chat öffnen, ${count} neu`,
  close: 'Chat schließen',
  welcome: 'Wie können wir helfen?',
  messages: 'Nachrichten',
  message: 'Ihre Nachricht',
  send: 'Senden',
  you: 'Sie',
  working: 'Eine Antwort wird geschrieben',
  notSent: 'Nicht gesendet.',
  notAllowed: 'Der Chat ist auf dieser Seite nicht verfügbar.',
  tooMany: 'Zu viele Nachrichten. Bitte warten Sie einige Minuten.',
  tryAgain: 'Erneut versuchen',
  offline: 'Der Chat ist im Moment nicht erreichbar.',
  contact: 'E-Mail-Adresse angeben',
  contactForMail: 'Antwort auch per E-Mail senden',
  contactHint: 'Freiwillig. Wird mit Ihrer nächsten Nachricht gesendet.',
  name: 'Name',
  email: 'E-Mail',
}

const fr: WidgetText = {
  chat: 'Discussion',
  open: 'Ouvrir la discussion',
  openWithUnread: (count) => `Ouvrir la discussion, ${count} nouveaux messages`,
  close: 'Fermer la discussion',
  welcome: 'Comment pouvons-nous vous aider ?',
  messages: 'Messages',
  message: 'Votre message',
  send: 'Envoyer',
  you: 'Vous',
  working: 'Une réponse est en cours de rédaction',
  notSent: 'Non envoyé.',
  notAllowed: 'La discussion n’est pas disponible sur cette page.',
  tooMany: 'Trop de messages. Attendez quelques minutes.',
  tryAgain: 'Réessayer',
  offline: 'La discussion est injoignable pour le moment.',
  contact: 'Laisser mon adresse e-mail',
  contactForMail: 'M’envoyer aussi la réponse par e-mail',
  contactHint: 'Facultatif. Envoyé avec votre prochain message.',
  name: 'Nom',
  email: 'E-mail',
}

const es: WidgetText = {
  chat: 'Chat',
  open: 'Abrir el chat',
  openWithUnread: (count) => `Abrir el chat, ${count} mensajes nuevos`,
  close: 'Cerrar el chat',
  welcome: '¿En qué podemos ayudarle?',
  messages: 'Mensajes',
  message: 'Su mensaje',
  send: 'Enviar',
  you: 'Usted',
  working: 'Se está escribiendo una respuesta',
  notSent: 'No enviado.',
  notAllowed: 'El chat no está disponible en esta página.',
  tooMany: 'Demasiados mensajes. Espere unos minutos.',
  tryAgain: 'Reintentar',
  offline: 'No se puede conectar con el chat en este momento.',
  contact: 'Dejar mi correo electrónico',
  contactForMail: 'Enviarme la respuesta también por correo',
  contactHint: 'Opcional. Se envía con su próximo mensaje.',
  name: 'Nombre',
  email: 'Correo electrónico',
}

export const WIDGET_TEXTS: Record<string, WidgetText> = { en, de, fr, es }

export const widgetText = (language: string): WidgetText => WIDGET_TEXTS[language] ?? en
