import type { Flag, IsoTime, JsonText, SecretText } from './column-types.ts'

export interface CustomerTables {
  clients: ClientRow
  client_handles: ClientHandleRow
  channels: ChannelRow
  signed_tokens: SignedTokenRow
  threads: ThreadRow
  messages: MessageRow
  message_files: MessageFileRow
}

/** A person for whom the project works. */
export interface ClientRow {
  id: string
  project_id: string
  display_name: string | null
  /** What the project keeps about the client. */
  metadata: JsonText
  created_at: IsoTime
  updated_at: IsoTime
}

/** An address of a client, such as a mail address or a phone number. */
export interface ClientHandleRow {
  project_id: string
  /** In lower case, because handles are compared without case. */
  handle: string
  /** The address as the client wrote it. */
  shown: string
  client_id: string
  /** 0: the client typed it, and nobody has checked that it is the client's. */
  is_verified: Flag
}

/** A way in which messages of clients arrive, such as a mailbox or a chat. */
export interface ChannelRow {
  id: string
  project_id: string
  connection_id: string
  /** The address to which clients write. */
  address: string
  wedge: string
  task_type: string
  /** Null: messages come through `/inbound` only. */
  adapter: string | null
  /** JSON, in the form of the adapter. */
  config: JsonText
  /** How long the task of a message waits for more messages. */
  settle_s: number
  /** JSON: what an adapter that fetches messages has read so far. */
  progress: JsonText | null
  /** The replica that fetches the messages, until `poller_until`. */
  poller: string | null
  /** Until when the replica fetches the messages. */
  poller_until: IsoTime | null
  /** When the last message arrived. */
  last_received_at: IsoTime | null
  last_error: string | null
  last_error_at: IsoTime | null
  created_at: IsoTime
}

/** A token that a provider has signed without the body of its call, for ten minutes. */
export interface SignedTokenRow {
  /** The hash of the signature, which differs for each token, time and key. */
  signature_hash: string
  channel_id: string
  /** The hash of the body that came with the token. */
  body_hash: string
  created_at: IsoTime
}

/** A conversation with a client on a channel. */
export interface ThreadRow {
  id: string
  project_id: string
  channel_id: string
  client_id: string
  subject: string | null
  status: string
  /** The number of the newest message. */
  message_count: number
  /**
   * Tells apart the conversations of one client on one channel, such as two mails with two subjects. Empty: the client has
   * one conversation on the channel.
   */
  conversation_key: string
  /** Part of the reply address of mails, so that an answer finds its thread. */
  reply_token: SecretText | null
  /** The member or key that has taken the conversation over from the agent. */
  held_by_kind: string | null
  /** The id of the member or key that has taken the conversation over. */
  held_by_id: string | null
  /** The number of the newest message that the team has read. */
  read_count: number
  /** Since when the client waits for an answer that no run will give. */
  unanswered_at: IsoTime | null
  /** Why no run will answer. */
  unanswered_reason: string | null
  /** The task that ended without an answer. */
  unanswered_task_id: string | null
  /** The number of the newest message that the client has read in the portal. */
  client_read_count: number
  /** The number of the newest message for which it was decided whether the client gets a mail. */
  client_notified_count: number
  created_at: IsoTime
  updated_at: IsoTime
}

/** A message of a conversation, in either direction. */
export interface MessageRow {
  id: string
  /** The position in the thread: ids of one millisecond have no order. */
  n: number
  project_id: string
  thread_id: string
  channel_id: string
  /** `inbound` from the client or `outbound` to the client. */
  direction: string
  /** The address of the sender. */
  from_handle: string | null
  /** The name that the sender gave. */
  from_name: string | null
  body: string
  subject: string | null
  /** The task that the message started, or that wrote it. */
  task_id: string | null
  /** The id that the provider gave to the message. */
  external_id: string | null
  /** JSON list of the addresses that an e-mail was sent to; null for a message in the thread itself. */
  recipients: JsonText | null
  /** The member or key that wrote an outbound message; null: an agent. */
  author_kind: string | null
  /** The id of the member or key that wrote an outbound message. */
  author_id: string | null
  /** JSON: what the adapter of the channel needs to answer the message, such as the ids of the provider. */
  address: JsonText | null
  /** How the message left the service; null: it did not, and is shown in the portal only. */
  delivery: 'sending' | 'sent' | 'failed' | 'unknown' | null
  /** Why the message was not delivered. */
  delivery_error: string | null
  /** 1: an automatic reply or a bounce, which starts no task and is never answered. */
  is_automatic: Flag
  /** JSON: whether the sender of a mail is proved (SPF, DKIM, DMARC), or the address in `sent_by`; null: the channel does not say. */
  verdict: JsonText | null
  /** 1: nothing proves that the client wrote the message, so it answers no question. */
  is_unverified: Flag
  /** The address in From, if the mail names its sender in Reply-To; null: the sender sent it. */
  sent_by: string | null
  /** 1: a message of the client that has started no task, and waits until a person answers, starts or dismisses it. */
  is_waiting: Flag
  created_at: IsoTime
}

/** The files of a message, in their order. */
export interface MessageFileRow {
  message_id: string
  /** The position in the list. */
  n: number
  file_id: string
}
