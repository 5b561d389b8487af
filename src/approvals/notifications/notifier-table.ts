import { mailNotifier } from './mail/mail-notifier.ts'
import type { Notifier, NotifierKind } from './notifier.ts'
import { slackNotifier } from './slack/slack-notifier.ts'
import { telegramNotifier } from './telegram/telegram-notifier.ts'

/** The services that can notify members of approvals. */
const NOTIFIERS: Record<NotifierKind, Notifier> = {
  slack: slackNotifier,
  telegram: telegramNotifier,
  mail: mailNotifier,
}

export const findNotifierOfKind = (kind: NotifierKind): Notifier => NOTIFIERS[kind]
