import { sendOnce } from '../../approvals/effects/send-once.ts'
import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'
import { textField } from '../../platform/base/json-fields.ts'
import { problemOrThrow } from '../../platform/base/problem.ts'
import type { Brand } from '../../customers/brand/rows.ts'
import { formatMailAddress, parseMailAddress } from '../../connections/mail/mail-address.ts'
import { type Connection, findConnection } from '../../connections/connection/rows.ts'
import { prepareAction } from '../../connections/actions/send-action.ts'
import type { Ctx, Tx } from '../../platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'

/** A mail of the service itself to a client: a sign-in link, or a notice of an answer. */
export interface ServiceMail {
  clientId: string
  payload: JsonObject
  /** Stores what belongs to the mail, in the transaction that claims it. False: the mail is not sent. */
  claim: (tx: Tx) => Promise<boolean>
}

/**
 * Sends a mail through the brand's mail connection, at most once: an admin decided about these mails when the connection
 * was chosen. The effect is in the ledger before the mail is sent, and its outcome is in the audit log.
 */
export async function sendServiceMail(ctx: Ctx, brand: Brand, mail: ServiceMail): Promise<void> {
  const connection = await findMailConnection(ctx, brand)
  if (!connection) return
  const action = `${connection.name}:send`
  const request = { capability: action, payload: mail.payload, runSignal: NEVER_WITHDRAWN }
  const prepared = await prepareAction(ctx, connection, request).catch(problemOrThrow)
  if (prepared instanceof Error) {
    ctx.world.log.warn({ err: prepared, connection: connection.id }, 'a mail to a client could not be prepared')
    return
  }
  await sendOnce(ctx, {
    id: ctx.world.newId('mail'),
    projectId: connection.project_id,
    run: null,
    messageId: null,
    action,
    payload: withSenderName(prepared.payload, brand),
    connection,
    actor: SYSTEM_ACTOR,
    auditData: { client_id: mail.clientId },
    mayClaim: mail.claim,
  })
}

/** Null if none is chosen, or if it was deleted since. */
export async function findMailConnection(ctx: Ctx, brand: Brand): Promise<Connection | null> {
  const connection = brand.mail_connection_id === null ? null : await findConnection(ctx.db, brand.mail_connection_id)
  return connection?.project_id === brand.project_id && connection.kind === 'email' ? connection : null
}

/** Clients know the name of the brand, and not always the name in the address of the connection. */
function withSenderName(payload: Json, { name }: Brand): Json {
  if (!isJsonObject(payload) || name === null) return payload
  const from = parseMailAddress(textField(payload, 'from'))
  // A name with characters that no mail address may have is left out.
  const sender = from && parseMailAddress(formatMailAddress({ ...from, name }))
  return sender ? { ...payload, from: formatMailAddress(sender) } : payload
}

const NEVER_WITHDRAWN = { aborted: false }
