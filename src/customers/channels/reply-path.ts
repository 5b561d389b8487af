import { isJsonObject, type Json, type JsonObject, ownField } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import { type Connection, findConnection } from '../../connections/connection/rows.ts'
import type { ActionSender } from '../../connections/actions/send-action.ts'
import { capabilityOf } from '../../connections/connection/tool.ts'
import { listFileReferences } from '../../platform/contract/file-reference.ts'
import { schemaErrors } from '../../platform/contract/output-schema.ts'
import type { FileRow, ThreadRow } from '../../platform/store/tables.ts'
import type { Db } from '../../platform/store/store.ts'
import type { AdapterChannel, ChannelConversation, ChannelReply } from './adapters/adapter.ts'
import { findAdapter, toAdapterChannel } from './adapters/adapter-table.ts'
import { findChannelUnscoped } from './rows.ts'
import { findMessageToAnswer, listExternalIds } from '../threads/message-rows.ts'
import { threadReply } from './thread-reply.ts'
import { findThreadUnscoped } from '../threads/thread-rows.ts'

/** The way back to the client of a thread: the adapter of its channel, and the connection if one sends the reply. */
export interface ReplyPath {
  thread: ThreadRow
  channel: AdapterChannel
  /** The connection of the channel. */
  connection: Connection
  /** The connection that sends; null: the client reads the reply in the widget or the portal, and nothing is sent. */
  sentThrough: Connection | null
  reply: ChannelReply
  /** `<connection>:reply`; `widget:reply` or `portal:reply` if nothing is sent. */
  capability: string
}

/**
 * Null if answers are shown in the thread without an approval: the channel has no adapter, and the wedge does not require one
 * (`requiresReplyApproval`).
 */
export async function findReplyPath(
  db: Db,
  threadId: string,
  { isApprovalRequired = false }: { isApprovalRequired?: boolean } = {},
): Promise<ReplyPath | null> {
  const [thread] = await findThreadUnscoped(db, { id: threadId })
  const row = thread && (await findChannelUnscoped(db, thread.channel_id))
  const withoutAdapter = isApprovalRequired ? threadReply : null
  const ownReply = row?.adapter === null ? withoutAdapter : row && findAdapter(row.adapter)?.reply
  if (!thread || !row || !ownReply) return null
  const connection = await findConnection(db, row.connection_id)
  const [last] = await findMessageToAnswer(db, { thread_id: threadId })
  if (!connection || !last) return null
  // The client has written in the portal only, and reads the answer there.
  const reply = last.address === null ? threadReply : ownReply
  const place = last.address === null || row.adapter === null ? 'portal' : row.adapter
  const sentThrough = reply.send ? connection : null
  const capability = capabilityOf(sentThrough ?? { name: place }, 'reply')
  return { thread, channel: toAdapterChannel(row), connection, sentThrough, reply, capability }
}

/** Whether the capability means the reply of this path. An agent may name the channel's connection wherever it replies. */
export const isReplyOfPath = ({ capability, connection }: ReplyPath, called: string): boolean =>
  [capability, capabilityOf(connection, 'reply')].some((name) => name.toLowerCase() === called.toLowerCase())

/** The whole payload as it will be sent. A 400 for a text or a file that the channel cannot carry. */
export async function composeReply(
  db: Db,
  { thread, channel, connection, reply }: ReplyPath,
  text: string,
  files: readonly FileRow[],
): Promise<JsonObject> {
  const [lastInbound] = await findMessageToAnswer(db, { thread_id: thread.id })
  if (!lastInbound) throw badRequest('the client has not written through this channel')
  const externalIds = (await listExternalIds(db, { thread_id: thread.id })).toReversed()
  const conversation: ChannelConversation = {
    channel,
    connection,
    thread,
    lastInbound,
    externalIds: externalIds.flatMap(({ external_id }) => external_id ?? []),
  }
  const named = files.map(({ id, name, sha256 }) => ({ $file: id, name, sha256 }))
  const payload = reply.compose(conversation, { text, files: named })
  checkReplyPayload(reply, payload, 'payload')
  return payload
}

/** Throws a 400 that names the field if a reply cannot be sent like this. */
export function checkReplyPayload({ schema }: ChannelReply, payload: Json, field: string): void {
  const [error] = schemaErrors(schema, payload)
  if (error) throw badRequest(`field '${field}${error.path.slice(1)}' ${error.message}`)
  requireShortFields(schema, payload, field)
  if (replyText(payload).trim() === '') throw badRequest(`field '${field}.text' must not be empty`)
}

/** The limits of the provider: `maxLength` of a text and `maxItems` of a list. */
function requireShortFields({ properties }: JsonObject, payload: Json, field: string): void {
  if (!isJsonObject(properties) || !isJsonObject(payload)) return
  for (const [name, limits] of Object.entries(properties)) {
    const value = ownField(payload, name)
    const { maxLength, maxItems } = isJsonObject(limits) ? limits : {}
    if (typeof value === 'string' && typeof maxLength === 'number' && value.length > maxLength)
      throw badRequest(`field '${field}.${name}' must have at most ${maxLength} characters, not ${value.length}`)
    if (Array.isArray(value) && typeof maxItems === 'number' && value.length > maxItems)
      throw badRequest(`field '${field}.${name}' must have at most ${maxItems} items, not ${value.length}`)
  }
}

export const replyText = (payload: Json): string =>
  isJsonObject(payload) && typeof payload.text === 'string' ? payload.text : ''

/** The ids of the files that a payload names as `{"$file": id}`. */
export const listPayloadFiles = (payload: Json): string[] => listFileReferences([payload]).map(({ $file }) => $file)

/** Sends replies through the adapter, and keeps the provider's id of the message. */
export function createReplySender({ channel, reply }: ReplyPath): {
  send: ActionSender
  externalId: () => string | null
} {
  let externalId: string | null = null
  return {
    externalId: () => externalId,
    async send(ctx, { connection, secret, payload, idempotencyKey }) {
      if (!reply.send) throw new Error('a reply that is only shown is not sent')
      if (!isJsonObject(payload)) throw badRequest("field 'payload' must be an object")
      const call = { connection, secret, channel, payload, idempotencyKey }
      const { externalId: sentId, ...response } = await reply.send(ctx, call)
      externalId = sentId
      return response
    },
  }
}
