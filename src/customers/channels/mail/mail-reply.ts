import type { JsonObject } from '../../../platform/base/json.ts'
import { textField, tryParseJsonObject } from '../../../platform/base/json-fields.ts'
import { badRequest } from '../../../platform/base/problem.ts'
import { formatMailAddress, mailDomain } from '../../../connections/mail/mail-address.ts'
import { completeMailPayload, parseMail, SEND_MAIL_TOOL } from '../../../connections/mail/mail-payload.ts'
import { findMailProvider } from '../../../connections/mail/provider-table.ts'
import type { Connection } from '../../../connections/connection/rows.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { loadPayloadFiles } from '../../../work/files/payload-files.ts'
import type { ChannelReply, ChannelConversation, ReplyCall, ReplyDraft, ReplyResult } from '../adapters/adapter.ts'
import { joinReferences, parseMessageIds } from './mail-headers.ts'
import { makeReplyAddress } from './reply-address.ts'

/** Answers of every mail channel: a mail through the channel's connection, whichever provider it has. */
export const mailReply: ChannelReply = {
  schema: SEND_MAIL_TOOL.inputSchema,
  compose: composeMailReply,
  send: sendMailReply,
}

function composeMailReply(conversation: ChannelConversation, draft: ReplyDraft): JsonObject {
  const { channel, thread, lastInbound, externalIds } = conversation
  const connection = withAdapterDefaults(conversation)
  const address = tryParseJsonObject(lastInbound.address ?? '') ?? {}
  const to = textField(address, 'to')
  if (to === '') throw badRequest('the last message of the conversation has no mail address')
  const replyTo = thread.reply_token === null ? null : makeReplyAddress(channel.address, thread.reply_token)
  const answered = textField(address, 'message_id')
  const earlier = [textField(address, 'references'), externalIds.join(' '), answered]
  const references = joinReferences(earlier.flatMap(parseMessageIds))
  return completeMailPayload(connection, {
    to,
    subject: toReplySubject(lastInbound.subject ?? thread.subject ?? ''),
    text: draft.text,
    ...(replyTo && { reply_to: formatMailAddress(replyTo) }),
    headers: {
      ...(answered !== '' && { 'In-Reply-To': answered }),
      ...(references !== '' && { References: references }),
      // RFC 3834: programs do not answer such a mail, so two of them cannot write to each other without end.
      'Auto-Submitted': 'auto-replied',
    },
    ...(draft.files.length > 0 && { attachments: draft.files }),
  })
}

/** A connection that names no provider and no sender sends through the service of the channel, from its address. */
function withAdapterDefaults({ channel, connection }: Pick<ReplyCall, 'channel' | 'connection'>): Connection {
  const provider = channel.adapter === 'mail' ? {} : { provider: channel.adapter }
  return { ...connection, config: { ...provider, from: channel.address, ...connection.config } }
}

const MAX_SUBJECT_CHARACTERS = 200

const toReplySubject = (subject: string): string => {
  const line = subject.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_SUBJECT_CHARACTERS)
  return /^(?:re|aw|sv|antw)\s*:/i.test(line) ? line : `Re: ${line}`.trim()
}

/** The Message-ID is made of the idempotency key, so that a mail that was sent twice can be recognised. */
async function sendMailReply(ctx: Ctx, call: ReplyCall): Promise<ReplyResult> {
  const { secret, payload, idempotencyKey } = call
  const connection = withAdapterDefaults(call)
  const provider = findMailProvider(connection)
  if (!provider) throw badRequest(`connection '${connection.name}' must have a config.provider to answer mails`)
  const mail = parseMail(
    completeMailPayload(connection, payload),
    await loadPayloadFiles(ctx, connection.project_id, payload),
  )
  const messageId = `<${idempotencyKey}@${mailDomain(mail.from)}>`
  const headers = { ...mail.headers, ...provider.messageIdHeaders?.(messageId) }
  const response = await provider.send(ctx, { connection, secret, mail: { ...mail, headers }, idempotencyKey })
  return { ...response, externalId: provider.messageIdHeaders ? messageId : null }
}
