import type { IncomingHttpHeaders } from 'node:http'
import type { JsonObject } from '../base/json.ts'
import type { Connection } from '../connections/rows.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { NotifierRow } from '../store/tables.ts'
import type { Notice } from './card.ts'

export const NOTIFIER_KINDS = ['slack', 'telegram', 'mail'] as const
export type NotifierKind = (typeof NOTIFIER_KINDS)[number]

/**
 * A service that tells members of approvals. To add one, write `<kind>-notifier.ts` and add it to `notifier-table.ts`: the
 * routes, the loop and the settings find it there.
 *
 * `post` and `rewrite` throw when the message was not sent. The loop then tries again, unless it is a `NoticeRefused`.
 */
export interface Notifier {
  kind: NotifierKind
  /** What the secret of the notifier is, in words; null: it has none. */
  secret: string | null
  /** Messages have a link to the decision page instead of buttons. */
  decidesOnPage: boolean
  /** Throws a 400 if this connection cannot send the messages. */
  checkConnection(connection: Connection): void
  /** Sends a message. The id is what `rewrite` needs. */
  post(ctx: Ctx, target: NoticeTarget, notice: Notice): Promise<{ externalId: string }>
  /** Replaces the content of a message that was sent. */
  rewrite(ctx: Ctx, target: NoticeTarget, externalId: string, notice: Notice): Promise<void>
  /** The address with which a member sends the code of a link; null or absent: the member types the code. */
  linkUrl?(ctx: Ctx, connection: Connection, code: string): Promise<string | null>
  /** Throws a 401 unless the service signed the call. */
  verify?(ctx: Ctx, call: NotifierCall): Promise<void>
  /** What members did. Only called after `verify`. */
  parse?(ctx: Ctx, call: NotifierCall): Promise<NotifierEvent[]>
}

/** Where a message goes. */
export interface NoticeTarget {
  notifier: NotifierRow
  connection: Connection
  /** The user id at Slack, the chat id at Telegram, or the mail address. */
  address: string
  /** The same for every attempt to send the message. */
  idempotencyKey: string
}

/** A call of the service, such as a click on a button. */
export interface NotifierCall {
  notifier: NotifierRow
  connection: Connection
  /** The secret of the notifier. */
  secret: string | null
  headers: IncomingHttpHeaders
  body: Buffer
}

/** Tells the person who acted what came of it, in a short text that only this person sees. */
export type Respond = (text: string) => Promise<void>

export type NotifierEvent =
  | { type: 'link'; code: string; address: string; respond: Respond }
  | {
      type: 'decide'
      address: string
      approvalId: string
      /** The payload that the person saw. */
      payloadSha256: string
      decision: 'approve' | 'reject'
      edited?: JsonObject
      reason?: string
      respond: Respond
    }

/** The service refused the message, and would refuse it again: the member left the workspace, or blocked the bot. */
export class NoticeRefused extends Error {}
