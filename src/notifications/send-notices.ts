import { findDecidingMember } from '../approvals/approver-rows.ts'
import { isApprover } from '../approvals/approvers.ts'
import { findApprovalUnscoped } from '../approvals/rows.ts'
import { errorMessage } from '../base/error-message.ts'
import { newToken, tokenHash } from '../base/tokens.ts'
import { serviceUrl } from '../config/service-url.ts'
import { findConnection } from '../connections/rows.ts'
import { type Ctx, inDurableTx, inTx } from '../ctx/ctx.ts'
import { isoNow, toIsoTime } from '../ctx/world.ts'
import type { ApprovalRow, NotificationMessageRow } from '../store/tables.ts'
import { type Card, type Notice, readCard, toDigest } from './card.ts'
import { insertDecisionLink } from './decision-link-rows.ts'
import { listLinksOfMember } from './link-rows.ts'
import {
  listMessagesOfDigest,
  type MessageOutcome,
  updateApprovalWithoutMessages,
  updateMessageOutcome,
} from './message-rows.ts'
import { NoticeRefused, type NoticeTarget, type Notifier } from './notifier.ts'
import { findNotifierOfKind } from './notifier-table.ts'
import { findNotifier } from './rows.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** The wait after each failed attempt. The attempt after the last wait is the final one. */
export const NOTICE_BACKOFF_MS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 60 * MINUTE]

/** Messages that are sent as one: a single one, or all of a digest. */
export type MessageGroup = [NotificationMessageRow, ...NotificationMessageRow[]]

/** The messages of a digest to one member become one message. */
export function groupMessages(messages: readonly NotificationMessageRow[]): MessageGroup[] {
  const groups = new Map<string, MessageGroup>()
  for (const message of messages) {
    const { id, is_digest, project_id, member_id, kind } = message
    const key = is_digest === 1 ? `${project_id} ${member_id} ${kind}` : id
    const group = groups.get(key)
    if (group) group.push(message)
    else groups.set(key, [message])
  }
  return [...groups.values()]
}

/** Sends a message that was claimed, and records the outcome. What has become of no use meanwhile is left out. */
export async function sendNotice(ctx: Ctx, group: MessageGroup): Promise<void> {
  const isUseful = await Promise.all(group.map((message) => isStillUseful(ctx, message)))
  const useful = group.filter((_, n) => isUseful[n])
  await recordOutcomes(
    ctx,
    group.filter((_, n) => !isUseful[n]),
    () => DROPPED,
  )
  const [first, ...others] = useful
  if (!first) return
  try {
    const sender = await findSender(ctx, first)
    if (!sender) return await recordOutcomes(ctx, useful, () => DROPPED)
    const { notice, versionOf } = await readNotice(ctx, [first, ...others], sender.notifier)
    const { externalId } = await sender.notifier.post(ctx, sender.target, notice)
    const now = isoNow(ctx)
    const sent = {
      state: 'sent',
      attempts: 0,
      due_at: now,
      sent_at: now,
      external_id: externalId,
      error: null,
    } as const
    await recordOutcomes(ctx, useful, (message) => ({ ...sent, shown_version: versionOf(message) }))
  } catch (error) {
    await recordFailure(ctx, useful, error)
  }
}

/** Whether the request still waits, and the member may still decide and still has the account linked. */
async function isStillUseful(ctx: Ctx, message: NotificationMessageRow): Promise<boolean> {
  const { approval_id, member_id, project_id, kind, address } = message
  const approval = await readApproval(ctx, approval_id)
  const [member] = await findDecidingMember(ctx.db, { id: member_id, project_id })
  const links = await listLinksOfMember(ctx.db, { project_id, member_id })
  const isLinked = links.some((link) => link.kind === kind && link.address === address)
  return approval?.status === 'pending' && member !== undefined && isApprover(approval, member) && isLinked
}

/** Replaces a message that shows an approval as it was before, and records the outcome. */
export async function rewriteNotice(ctx: Ctx, [message]: MessageGroup): Promise<void> {
  const approval = await readApproval(ctx, message.approval_id)
  const shown = { shown: approval?.status ?? 'pending', shown_version: approval?.version ?? 0, attempts: 0 }
  try {
    const sender = await findSender(ctx, message)
    if (sender && message.external_id !== null) {
      const shownTogether = message.is_digest === 1 ? await listMessagesOfDigest(ctx.db, message) : []
      const { notice } = await readNotice(ctx, [message, ...shownTogether.filter(({ id }) => id !== message.id)], null)
      await sender.notifier.rewrite(ctx, sender.target, message.external_id, notice)
    }
    await recordOutcomes(ctx, [message], () => ({ ...shown, error: null }))
  } catch (error) {
    const retry = retryOf(ctx, message, error)
    await recordOutcomes(ctx, [message], () => retry ?? { ...shown, error: textOf(error) })
  }
}

/** What a message shows that was never sent. */
const NOT_SENT = 'nothing'

const DROPPED = { state: 'dropped', shown: NOT_SENT } as const

async function recordFailure(ctx: Ctx, messages: readonly NotificationMessageRow[], error: unknown): Promise<void> {
  ctx.world.log.warn({ err: error, messages: messages.map(({ id }) => id) }, 'a message about an approval was not sent')
  await recordOutcomes(
    ctx,
    messages,
    (message) => retryOf(ctx, message, error) ?? { state: 'failed', shown: NOT_SENT, error: textOf(error) },
  )
}

/** The next attempt; null if there is none. */
function retryOf(ctx: Ctx, { attempts }: NotificationMessageRow, error: unknown): Partial<MessageOutcome> | null {
  const wait = error instanceof NoticeRefused ? undefined : NOTICE_BACKOFF_MS[attempts - 1]
  return wait === undefined ? null : { due_at: toIsoTime(ctx.world.clock.now() + wait), error: textOf(error) }
}

const MAX_ERROR_CHARACTERS = 500
const textOf = (error: unknown) => errorMessage(error).slice(0, MAX_ERROR_CHARACTERS)

/** The message was sent already, so its outcome is written as soon as the store is available. */
async function recordOutcomes(
  ctx: Ctx,
  messages: readonly NotificationMessageRow[],
  outcomeOf: (message: NotificationMessageRow) => Partial<MessageOutcome>,
): Promise<void> {
  if (messages.length === 0) return
  await inDurableTx(ctx, async (tx) => {
    for (const message of messages) {
      const outcome = { ...message, ...outcomeOf(message) }
      await updateMessageOutcome(tx.db, outcome)
      if (outcome.shown !== 'pending') await updateApprovalWithoutMessages(tx.db, { id: message.approval_id })
    }
  })
}

async function readApproval({ db }: Pick<Ctx, 'db'>, id: string): Promise<ApprovalRow | undefined> {
  return (await findApprovalUnscoped(db, { id }))[0]
}

/** Null if the project has no such notifier any more. */
async function findSender(
  ctx: Ctx,
  { project_id, kind, address, id }: NotificationMessageRow,
): Promise<{ notifier: Notifier; target: NoticeTarget } | null> {
  const notifier = findNotifierOfKind(kind)
  const [row] = await findNotifier(ctx.db, { project_id, kind })
  if (!row) return null
  const connection = await findConnection(ctx.db, row.connection_id)
  if (!connection) throw new NoticeRefused('the connection of the notifier was deleted')
  return { notifier, target: { notifier: row, connection, address, idempotencyKey: id } }
}

interface ReadNotice {
  notice: Notice
  /** The version of the approval that the notice shows. A vote that comes later makes the message outdated. */
  versionOf: (message: NotificationMessageRow) => number
}

/** The content of a message. With `decidesOnPage`, every request that waits gets a link to the decision page. */
async function readNotice(ctx: Ctx, group: MessageGroup, notifier: Notifier | null): Promise<ReadNotice> {
  const cards: Card[] = []
  const versions = new Map<string, number>()
  for (const message of group) {
    const approval = await readApproval(ctx, message.approval_id)
    if (!approval) continue
    versions.set(message.id, approval.version)
    const card = await readCard(ctx, approval)
    const needsLink = notifier?.decidesOnPage === true && approval.status === 'pending'
    cards.push(needsLink ? { ...card, decideUrl: await createDecisionUrl(ctx, message, approval) } : card)
  }
  const [card] = cards
  const notice = group[0].is_digest === 0 && card ? card : toDigest(cards)
  return { notice, versionOf: ({ id, shown_version }) => versions.get(id) ?? shown_version }
}

/** Only this mail has the token: the store has its hash. */
async function createDecisionUrl(
  ctx: Ctx,
  { project_id, approval_id, member_id }: NotificationMessageRow,
  { expires_at }: ApprovalRow,
): Promise<string> {
  const token = newToken('decisionLink', ctx.world.random)
  const link = { project_id, approval_id, member_id, expires_at: expires_at ?? isoNow(ctx), used_at: null }
  await inTx(ctx, (tx) => insertDecisionLink(tx.db, { hash: tokenHash(token), ...link }))
  return serviceUrl(ctx.config, `/decide#${token}`)
}
