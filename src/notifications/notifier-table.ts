import { mailNotifier } from './mail-notifier.ts'
import type { Notifier, NotifierKind } from './notifier.ts'

/** The services that can tell members of approvals. */
export const NOTIFIERS: { readonly [Kind in NotifierKind]?: Notifier } = {
  mail: mailNotifier,
}

export function findNotifierOfKind(kind: NotifierKind): Notifier | null {
  return NOTIFIERS[kind] ?? null
}
