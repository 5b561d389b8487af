import { limitOpenCalls } from '../../../identity/limits/rate-windows.ts'
import { findMember } from '../../../identity/organisations/member-rows.ts'
import { type ApproverMember, findApproverMember } from '../../people/approver-rows.ts'
import { appendAuditEntry } from '../../../audit/append.ts'
import { conflict, notFound, Problem } from '../../../platform/base/problem.ts'
import { newToken, tokenHash } from '../../../platform/base/tokens.ts'
import { serviceUrl } from '../../../platform/config/service-url.ts'
import { type Connection, findConnection } from '../../../connections/connection/rows.ts'
import { type Ctx, inTx, type Tx } from '../../../platform/ctx/ctx.ts'
import type { ProjectScope, Scope } from '../../../platform/ctx/scope.ts'
import { isoNow, toIsoTime } from '../../../platform/ctx/world.ts'
import type { NotificationCodeRow, NotificationLinkRow, NotifierRow } from '../../../platform/store/tables.ts'
import { confirmationMail } from '../mail/approval-mail.ts'
import {
  deleteCodesOfMember,
  deleteNotificationLink,
  findLinkByAddress,
  insertNotificationCode,
  takeNotificationCode,
  upsertNotificationLink,
} from './link-rows.ts'
import { sendNoticeMail } from '../mail/mail-notifier.ts'
import type { Notifier, NotifierKind } from '../notifier.ts'
import { findNotifier } from '../rows.ts'

const MINUTE = 60_000
const CODE_LIFETIME_MS = 15 * MINUTE
const CONFIRMATION_LIFETIME_MS = 60 * MINUTE
/** In 15 minutes. The mail server of the project must not get a bad name because of one member. */
const MAX_CONFIRMATION_MAILS = 10

interface StartedLink {
  code?: string
  expires_at: string
  url?: string
  sent_to?: string
}

/** Begins to link an account of a service: with a code that the member sends from it, or with a mail to the own address. */
export async function startLink(ctx: Ctx, scope: ProjectScope, notifier: Notifier): Promise<StartedLink> {
  const connection = await requireNotifierConnection(ctx, scope, notifier.kind)
  return notifier.kind === 'mail'
    ? mailConfirmation(ctx, scope, connection)
    : createCode(ctx, scope, notifier, connection)
}

async function requireNotifierConnection(
  ctx: Ctx,
  { projectId }: ProjectScope,
  kind: NotifierKind,
): Promise<Connection> {
  const [row] = await findNotifier(ctx.db, { project_id: projectId, kind })
  const connection = row && (await findConnection(ctx.db, row.connection_id))
  if (!connection) throw conflict(`the project has not set up notifications by ${kind}`)
  return connection
}

async function createCode(
  ctx: Ctx,
  scope: ProjectScope,
  notifier: Notifier,
  connection: Connection,
): Promise<StartedLink> {
  const code = newCode(ctx)
  const expires_at = await storeCode(ctx, scope, { secret: code, kind: notifier.kind, address: null })
  const url = await notifier.linkUrl?.(ctx, connection, code)
  return { code, expires_at, ...(url && { url }) }
}

/** Short enough to type. It is valid for minutes, and only in a message that the service has signed. */
const newCode = ({ world }: Ctx): string => Buffer.from(world.random(6)).toString('hex')

async function mailConfirmation(ctx: Ctx, scope: ProjectScope, connection: Connection): Promise<StartedLink> {
  const member = await findMember(ctx.db, scope.orgId, scope.actor.id)
  if (!member) throw notFound('member')
  await limitOpenCalls(ctx, `mail-link:${member.id}`, MAX_CONFIRMATION_MAILS, 'mails')
  const token = newToken('mailConfirmation', ctx.world.random)
  const expires_at = await storeCode(ctx, scope, { secret: token, kind: 'mail', address: member.email })
  const url = serviceUrl(ctx.config, `/settings?view=notifications#confirm=${token}`)
  const call = { connection, idempotencyKey: ctx.world.newId('ntm') }
  await sendNoticeMail(ctx, call, { to: member.email, ...confirmationMail(url) }).catch((error: unknown) => {
    ctx.world.log.warn({ err: error, connection: connection.id }, 'a confirmation mail was not sent')
    throw new Problem(502, 'the mail could not be sent: check the mail connection of the notifier')
  })
  return { expires_at, sent_to: member.email }
}

async function storeCode(
  ctx: Ctx,
  { projectId, actor }: ProjectScope,
  { secret, kind, address }: { secret: string } & Pick<NotificationCodeRow, 'kind' | 'address'>,
): Promise<string> {
  const lifetime = kind === 'mail' ? CONFIRMATION_LIFETIME_MS : CODE_LIFETIME_MS
  const expires_at = toIsoTime(ctx.world.clock.now() + lifetime)
  const owner = { project_id: projectId, member_id: actor.id, kind }
  await inTx(ctx, async (tx) => {
    await deleteCodesOfMember(tx.db, owner)
    await insertNotificationCode(tx.db, { hash: tokenHash(secret), ...owner, address, expires_at })
    await appendAuditEntry(tx, projectId, actor, 'notification_link.requested', actor.id, { kind })
  })
  return expires_at
}

/** Confirms the mail address of the caller. The link works once, and only for the member who asked for it. */
export async function confirmMailLink(ctx: Ctx, { actor }: Scope, token: string): Promise<NotificationLinkRow> {
  return inTx(ctx, async (tx) => {
    const [code] = await takeNotificationCode(tx.db, { hash: tokenHash(token), kind: 'mail', now: isoNow(tx) })
    if (!code?.address || code.member_id !== actor.id)
      throw new Problem(410, 'the link is used or has expired: ask for a new one')
    return storeLink(tx, code, code.address)
  })
}

/** Links the account from which a member sent the code, and returns the member. Null if the code is not valid. */
export async function completeLink(
  ctx: Ctx,
  { project_id, kind }: NotifierRow,
  code: string,
  address: string,
): Promise<ApproverMember | null> {
  return inTx(ctx, async (tx) => {
    const [taken] = await takeNotificationCode(tx.db, { hash: tokenHash(code), kind, now: isoNow(tx) })
    if (taken?.project_id !== project_id) return null
    const { member_id } = await storeLink(tx, taken, address)
    const [member] = await findApproverMember(tx.db, { id: member_id, project_id })
    return member ?? null
  })
}

async function storeLink(
  tx: Tx,
  { project_id, member_id, kind }: NotificationCodeRow,
  address: string,
): Promise<NotificationLinkRow> {
  const link = { project_id, member_id, kind, address, linked_at: isoNow(tx) }
  const [linked] = await findLinkByAddress(tx.db, link)
  // Otherwise a member could trick another one into sending the code, and would then get that member's messages and clicks.
  if (linked && linked.member_id !== member_id)
    throw conflict('this account is linked to another member, who has to remove the link in the console first')
  await upsertNotificationLink(tx.db, link)
  const actor = { kind: 'member', id: member_id } as const
  await appendAuditEntry(tx, project_id, actor, 'notification_link.created', member_id, { kind })
  return link
}

/** Ends the messages to the member through a service. Messages that wait are dropped. */
export async function removeLink(ctx: Ctx, { projectId, actor }: ProjectScope, kind: NotifierKind): Promise<void> {
  await inTx(ctx, async (tx) => {
    const removed = await deleteNotificationLink(tx.db, { project_id: projectId, member_id: actor.id, kind })
    if (!removed) throw notFound('link')
    await appendAuditEntry(tx, projectId, actor, 'notification_link.deleted', actor.id, { kind })
  })
}
