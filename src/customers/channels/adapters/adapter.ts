import type { z } from 'zod'
import type { JsonObject } from '../../../platform/base/json.ts'
import type { UpstreamResponse } from '../../../connections/calls/executor.ts'
import type { Connection } from '../../../connections/connection/rows.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import type { ChannelRow, MessageRow, ThreadRow } from '../../../platform/store/tables.ts'
import type { BodyReader } from '../parsers/parse-untrusted.ts'

/**
 * A service that carries messages. To add one, write `adapters/<name>.ts` that exports `<name>Adapter`, and add it to
 * `adapter-table.ts`: every route, check and page finds it there.
 */
export interface ChannelAdapter {
  /** The form of the channel's `config`. It is checked when the channel is created or changed. */
  config: z.ZodType<JsonObject>
  /** What the channel's secret is, in a few words, such as "the signing secret of the Slack app"; null: it has none. */
  secret: string | null
  /** The connections through which answers can be sent; absent: any, because nothing is sent through it. */
  connection?: ConnectionRequirement
  /** The messages have no subject, as in a chat. */
  isChat?: true
  /** Receives the calls of the provider at `/v1/hooks/:channel_id`. */
  hook?: ChannelHook
  /** Fetches messages until the signal is aborted. One replica at a time does it for a channel. */
  poll?(ctx: Ctx, call: PollCall, signal: AbortSignal): Promise<void>
  /** How answers go back; absent if clients read them only through the service. */
  reply?: ChannelReply
}

/** What a connection must be to send the answers of a channel. */
export interface ConnectionRequirement {
  kind: 'custom' | 'email'
  /** `config.provider` of a mail connection; absent: any. */
  provider?: string
}

/** A channel with its parsed config. */
export type AdapterChannel = Omit<ChannelRow, 'config'> & { config: JsonObject }

export interface ChannelHook {
  /** The limit for the body of a call. */
  maxBytes: number
  /**
   * Throws a 401 (or 403) for a call whose headers show that it does not come from the provider, such as a signed time that
   * is older than five minutes. It is called before the body is read, so that a stranger's body takes no memory.
   */
  verifyHead(ctx: Ctx, head: HookHead): void | Promise<void>
  /** Throws a 401 for a call whose body the provider did not sign; absent: the headers are the whole proof. */
  verifyBody?(ctx: Ctx, call: HookCall): void | Promise<void>
  /** The messages of a call that was verified. A call without messages, such as a delivery report, has an empty list. */
  parse(ctx: Ctx, call: HookCall): Promise<HookContent>
}

/** A call before its body is read. */
export interface HookHead {
  channel: AdapterChannel
  connection: Connection
  /** The channel's secret. */
  secret: string | null
  /** The address that the provider called, as it knows it: SVC_PUBLIC_URL with the path and the query. */
  url: string
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** The IP address of the caller. */
  caller: string
}

export interface HookCall extends HookHead {
  /** The bytes as they were received, for a signature. They may be gone once `read` was called. */
  body: Buffer
  /** Parses the body, in another thread if it is large. */
  read: BodyReader
}

export interface PollCall {
  channel: AdapterChannel
  /** The channel's secret. */
  secret: string | null
  /** Stores a message, with the task that it starts. A second delivery of the same message changes nothing. */
  receive(message: IncomingMessage): Promise<void>
  /** Notes that messages of the service did not arrive. */
  reportUndelivered(report: UndeliveredReport): Promise<void>
  /** Stores what was read so far. It is `channel.progress` when the next replica goes on. */
  saveProgress(progress: JsonObject): Promise<void>
  /** Notes on the channel that a message could not be read. */
  reportError(error: unknown): Promise<void>
}

export interface HookContent {
  messages: IncomingMessage[]
  /** Reports about messages of the service that did not arrive. */
  undelivered?: UndeliveredReport[]
  /** What the provider wants to hear; absent: `{"ok": true}` or the receipt of the message. */
  response?: { contentType: string; body: string }
}

/** A bounce, or a similar report of a provider. */
export interface UndeliveredReport {
  /** The provider's ids of the messages that did not arrive. */
  externalIds: string[]
  /** Why, in the words of the provider. */
  error: string
}

/** A message of a client, from any channel. */
export interface IncomingMessage {
  /** The provider's id of the message. A second delivery with the same id changes nothing. */
  externalId: string
  from: MessageSender
  body: string
  /** What the service says about missing parts. It is stored below the text, and is no part of an answer. */
  notes?: readonly string[]
  subject: string | null
  /** Tells apart the conversations of one client on the channel; empty: the client has one. */
  conversationKey: string
  /** What may name the thread that this message continues: ids of earlier messages, the token of the reply address. */
  continues?: { externalIds: string[]; replyToken: string | null }
  /** What `reply` needs to answer, kept on the message. */
  address: JsonObject
  files: IncomingFile[]
  /** An automatic reply or a bounce: it is stored in its thread, starts no task and is never answered. */
  isAutomatic?: boolean
  /** Whether the sender of a mail is proved, such as `{spf: "pass", dkim: "pass", dmarc: "pass"}`. */
  verdict?: JsonObject
  /**
   * Absent: the provider vouches for the sender. `required`: anybody can write this sender into a message, so only the token
   * or the id of an earlier message proves it. `failed`: not even those do.
   */
  senderProof?: 'required' | 'failed'
  /** The address in From of a mail whose sender is in Reply-To. */
  sentBy?: string
}

export interface MessageSender {
  handle: string
  name: string | null
  /** A mail address that the sender typed and that nobody has checked. */
  claimedAddress?: string | null
}

/** A file that came with a message. */
export interface IncomingFile {
  name: string
  contentType: string
  /** Reads the bytes, if they did not come with the call. */
  open(): AsyncIterable<Buffer>
}

/**
 * How the answers of a channel reach the client: as the action `<connection>:reply`, or `<place>:reply` if they are only
 * shown there. The payload has its text in `text`.
 */
export interface ChannelReply {
  /** The JSON Schema of the payload. */
  schema: JsonObject
  /** The whole payload as it will be sent, with the recipient that the thread has. The agent chooses only text and files. */
  compose(conversation: ChannelConversation, draft: ReplyDraft): JsonObject
  /** Sends the payload once. Throws an `EgressError` like an executor. Null: the client reads it here, and nothing is sent. */
  send: ((ctx: Ctx, call: ReplyCall) => Promise<ReplyResult>) | null
}

export interface ChannelConversation {
  channel: AdapterChannel
  connection: Connection
  thread: ThreadRow
  /** The newest inbound message that has an address. */
  lastInbound: MessageRow
  /** The external ids of the thread's messages, oldest first. */
  externalIds: string[]
}

export interface ReplyDraft {
  text: string
  /** As `{"$file": id, name, sha256}`. */
  files: JsonObject[]
}

export interface ReplyCall {
  connection: Connection
  secret: string | null
  channel: AdapterChannel
  payload: JsonObject
  /** The id of the approval or of the member's message. */
  idempotencyKey: string
}

export interface ReplyResult extends UpstreamResponse {
  /** The provider's id of the message that was sent, to recognise answers to it. */
  externalId: string | null
}
