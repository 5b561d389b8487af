import { insertEffect, updateEffectOutcome } from '../../approvals/effects/effect-rows.ts'
import { hashPayload } from '../../approvals/requests/ask-approval.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'
import { textField } from '../../platform/base/json-fields.ts'
import { problemOrThrow } from '../../platform/base/problem.ts'
import type { Brand } from '../../customers/brand/rows.ts'
import { formatMailAddress, parseMailAddress } from '../../connections/mail/mail-address.ts'
import { type Connection, findConnection } from '../../connections/connection/rows.ts'
import { type ActionResult, prepareAction, sendAction } from '../../connections/actions/send-action.ts'
import { type Ctx, inDurableTx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'

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
  const payload = withSenderName(prepared.payload, brand)
  const effect = { id: ctx.world.newId('mail'), action, payload, connection, clientId: mail.clientId }
  const isClaimed = await inTx(ctx, async (tx) => (await mail.claim(tx)) && claimMail(tx, effect))
  if (!isClaimed) return
  const sent = await sendAction(ctx, connection, { ...request, payload, idempotencyKey: effect.id })
  await inDurableTx(ctx, (tx) => recordOutcome(tx, effect, sent))
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

interface MailEffect {
  id: string
  action: string
  payload: Json
  connection: Connection
  clientId: string
}

async function claimMail(tx: Tx, { id, action, payload, connection }: MailEffect): Promise<boolean> {
  const claimed = await insertEffect(tx.db, {
    approval_id: id,
    project_id: connection.project_id,
    task_id: null,
    connection_id: connection.id,
    connection: connection.name,
    action,
    payload_sha256: hashPayload(payload),
    replica: tx.replica,
    created_at: isoNow(tx),
  })
  return claimed.length > 0
}

/** Changes nothing if another replica took this one for dead and has already written `unknown`. */
async function recordOutcome(tx: Tx, effect: MailEffect, { outcome, status, error }: ActionResult): Promise<void> {
  const { id, action, payload, connection, clientId } = effect
  const stored = { approval_id: id, replica: tx.replica, outcome, status, error, result: null }
  const [updated] = await updateEffectOutcome(tx.db, { ...stored, finished_at: isoNow(tx) })
  if (!updated) return
  const payload_sha256 = hashPayload(payload)
  const data = { action, connection_id: connection.id, payload_sha256, outcome, status, client_id: clientId }
  await appendAuditEntry(tx, connection.project_id, SYSTEM_ACTOR, 'action.executed', id, data)
}
