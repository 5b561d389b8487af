import type { IncomingHttpHeaders } from 'node:http'
import type { JsonObject } from '../../platform/base/json.ts'
import type { SignedCall, SignedHead } from '../../customers/channels/adapters/check-call.ts'
import type { BodyReader } from '../../customers/channels/parsers/parse-untrusted.ts'
import type { Connection } from '../../connections/connection/rows.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { NotifierRow } from '../../platform/store/tables.ts'
import type { ApprovalReference } from './approval-reference.ts'
import type { Card, Notice } from './card.ts'
import type { EditField, FieldInput } from './edit-fields.ts'

export const NOTIFIER_KINDS = ['slack', 'telegram', 'mail'] as const
export type NotifierKind = (typeof NOTIFIER_KINDS)[number]

/**
 * A service that notifies members of approvals. To add one, write `<kind>-notifier.ts` and add it to `notifier-table.ts`:
 * the routes, the loop and the settings find it there.
 *
 * `post` and `rewrite` throw when the message was not sent. The loop then tries again, unless it is a `NoticeRefused`. They
 * throw `NoticeDelayed` if the service wants fewer calls.
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
  /** Receives the calls of the service at `/v1/hooks/notifiers/:id`; absent: it makes none. */
  hook?: NotifierHook
}

export interface NotifierHook {
  /**
   * Throws a 401 for a call whose headers show that it does not come from the service, such as a signed time that is older
   * than five minutes. It is called before the body is read.
   */
  verifyHead(ctx: Ctx, head: SignedHead): void
  /** Throws a 401 for a call whose body the service did not sign; absent: the headers are the whole proof. */
  verifyBody?(ctx: Ctx, call: SignedCall): void
  /** What members did, in a call that was verified. */
  parse(ctx: Ctx, call: NotifierCall): Promise<NotifierActivity>
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
  /** The bytes as they were received, for a signature. They may be gone once `read` was called. */
  body: Buffer
  /** Parses the body, in another thread if it is large. */
  read: BodyReader
}

/** What members did, and what the service wants to hear. */
export interface NotifierActivity {
  events: NotifierEvent[]
  /** The body of the response, read after the events were handled; absent or null: `{}`. */
  response?: () => JsonObject | null
}

/**
 * Tells the person who acted what came of it, in a short text that only this person sees. After `done` the message itself
 * shows the outcome.
 */
export type Respond = (kind: 'done' | 'noted' | 'refused', text: string) => Promise<void>

export type NotifierEvent = LinkEvent | ShowEvent | DecideEvent | UndoEvent

/** A person sent the code of a link. */
export interface LinkEvent {
  type: 'link'
  code: string
  address: string
  respond: Respond
}

/** A person wants to see the form for a decision. */
export interface ShowEvent {
  type: 'show'
  address: string
  reference: ApprovalReference
  show: (card: Card, fields: EditField[]) => Promise<void>
  respond: Respond
}

/** A person decided. */
export interface DecideEvent {
  type: 'decide'
  address: string
  reference: ApprovalReference
  decision: 'approve' | 'reject' | 'revise'
  /** What the person entered in a form. Unchanged fields do not count as an edit. */
  inputs: FieldInput[]
  /** The reason of a rejection, or the note of a request that is sent back. */
  reason?: string | undefined
  respond: Respond
}

/** A person withdrew an approval. */
export interface UndoEvent {
  type: 'undo'
  address: string
  reference: ApprovalReference
  respond: Respond
}

/** The service takes no more calls for a while. This does not count as an attempt. */
export class NoticeDelayed extends Error {
  readonly waitMs: number
  constructor(message: string, waitMs: number) {
    super(message)
    this.waitMs = waitMs
  }
}

/** The service refused the message, and would refuse it again: the member left the workspace, or blocked the bot. */
export class NoticeRefused extends Error {}
