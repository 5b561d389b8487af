import { findApproverMember } from '../people/approver-rows.ts'
import { isApprover } from '../people/approvers.ts'
import { parseHeld } from '../requests/held-approval.ts'
import { listApprovalsUnscoped } from '../requests/rows.ts'
import { waitAfter } from '../../platform/base/backoff.ts'
import { errorMessage } from '../../platform/base/error-message.ts'
import { newToken, tokenHash } from '../../platform/base/tokens.ts'
import { serviceUrl } from '../../platform/config/service-url.ts'
import { findConnection } from '../../connections/connection/rows.ts'
import { type Ctx, inDurableTx, inTx } from '../../platform/ctx/ctx.ts'
import { isoNow, toIsoTime } from '../../platform/ctx/world.ts'
import type { ApprovalRow, NotificationMessageRow } from '../../platform/store/tables.ts'
import { type Card, MAX_DIGEST_CARDS, type Notice, readCards, toDigest } from './card.ts'
import { insertDecisionLinks } from './links/decision-link-rows.ts'
import { listLinksOfMember } from './links/link-rows.ts'
import { groupBy, type MessageGroup } from './message-groups.ts'
import {
  listMessagesOfDigest,
  type MessageOutcome,
  updateApprovalWithoutMessages,
  updateMessageOutcomes,
} from './message-rows.ts'
import { NoticeDelayed, NoticeRefused, type NoticeTarget, type Notifier } from './notifier.ts'
import { findNotifierOfKind } from './notifier-table.ts'
import { findNotifier } from './rows.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** The wait after each failed attempt. The attempt after the last wait is the final one. */
const NOTICE_BACKOFF_MS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 60 * MINUTE]

/** Sends a message that was claimed, and records the outcome. Skips messages that are no longer needed. */
export async function sendNotice(ctx: Ctx, group: MessageGroup): Promise<void> {
  const approvals = await readApprovals(ctx, group)
  const useful = await listUsefulMessages(ctx, group, approvals)
  await recordOutcomes(
    ctx,
    group.filter((message) => !useful.includes(message)),
    () => DROPPED,
  )
  const [first, ...others] = useful
  if (!first) return
  try {
    const sender = await findSender(ctx, first)
    if (!sender) return await recordOutcomes(ctx, useful, () => DROPPED)
    const notice = await readNotice(ctx, [first, ...others], approvals, sender.notifier)
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
    await recordOutcomes(ctx, useful, (one) => ({ ...sent, shown_version: versionIn(approvals, one) }))
  } catch (error) {
    await recordFailure(ctx, useful, error)
  }
}

/** The messages whose request still waits, if the member may still decide and still has the account linked. */
async function listUsefulMessages(
  ctx: Ctx,
  group: MessageGroup,
  approvals: ReadonlyMap<string, ApprovalRow>,
): Promise<NotificationMessageRow[]> {
  const [{ project_id, member_id }] = group
  const [member] = await findApproverMember(ctx.db, { id: member_id, project_id })
  if (!member) return []
  const links = await listLinksOfMember(ctx.db, { project_id, member_id })
  return group.filter(({ approval_id, kind, address }) => {
    const approval = approvals.get(approval_id)
    const isLinked = links.some((link) => link.kind === kind && link.address === address)
    return isLinked && approval?.status === 'pending' && isApprover(approval, member)
  })
}

/** The version of the approval that a notice shows. A vote that comes later makes the message outdated. */
const versionIn = (
  approvals: ReadonlyMap<string, ApprovalRow>,
  { approval_id, shown_version }: NotificationMessageRow,
): number => approvals.get(approval_id)?.version ?? shown_version

/** Replaces a message that shows an approval as it was before, and records the outcome. */
export async function rewriteNotice(ctx: Ctx, group: MessageGroup): Promise<void> {
  const [message] = group
  const shownTogether = message.is_digest === 1 ? await listMessagesOfDigest(ctx.db, message) : group
  const approvals = await readApprovals(ctx, shownTogether)
  const shownOf = (one: NotificationMessageRow) => ({
    shown: approvals.get(one.approval_id)?.status ?? 'pending',
    shown_version: versionIn(approvals, one),
  })
  try {
    const sender = await findSender(ctx, message)
    const [first, ...others] = shownTogether
    if (sender && first && message.external_id !== null) {
      const notice = await readNotice(ctx, [first, ...others], approvals, null)
      await sender.notifier.rewrite(ctx, sender.target, message.external_id, notice)
    }
    await recordOutcomes(ctx, group, (one) => ({ ...shownOf(one), attempts: 0, error: null }))
  } catch (error) {
    await recordOutcomes(ctx, group, (one) => retryOf(ctx, one, error) ?? { ...shownOf(one), error: textOf(error) })
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
function retryOf(ctx: Ctx, { attempts }: NotificationMessageRow, error: unknown): MessageOutcome | null {
  const now = ctx.world.clock.now()
  if (error instanceof NoticeDelayed)
    return { due_at: toIsoTime(now + error.waitMs), attempts: attempts - 1, error: textOf(error) }
  const wait = error instanceof NoticeRefused ? null : waitAfter(NOTICE_BACKOFF_MS, attempts)
  return wait === null ? null : { due_at: toIsoTime(now + wait), error: textOf(error) }
}

const MAX_ERROR_CHARACTERS = 500
const textOf = (error: unknown) => errorMessage(error).slice(0, MAX_ERROR_CHARACTERS)

/** The message was sent already, so its outcome is written as soon as the store is available. */
async function recordOutcomes(
  ctx: Ctx,
  messages: readonly NotificationMessageRow[],
  outcomeOf: (message: NotificationMessageRow) => MessageOutcome,
): Promise<void> {
  const outcomes = groupBy(messages, (message) => JSON.stringify(outcomeOf(message)))
  if (outcomes.size === 0) return
  await inDurableTx(ctx, async (tx) => {
    for (const [text, claimed] of outcomes) {
      const outcome: MessageOutcome = JSON.parse(text)
      await updateMessageOutcomes(tx.db, claimed, outcome)
      if (outcome.shown === undefined || outcome.shown === 'pending') continue
      for (const { approval_id } of claimed) await updateApprovalWithoutMessages(tx.db, { id: approval_id })
    }
  })
}

async function readApprovals(
  { db }: Pick<Ctx, 'db'>,
  messages: readonly NotificationMessageRow[],
): Promise<Map<string, ApprovalRow>> {
  const ids = messages.map(({ approval_id }) => approval_id)
  return new Map((await listApprovalsUnscoped(db, ids)).map((row) => [row.id, row]))
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

/** The content of a message. With `decidesOnPage`, every request gets a link to the decision page. */
async function readNotice(
  ctx: Ctx,
  group: MessageGroup,
  approvals: ReadonlyMap<string, ApprovalRow>,
  notifier: Notifier | null,
): Promise<Notice> {
  const rows = group.flatMap(({ approval_id }) => approvals.get(approval_id) ?? [])
  const shown = rows.slice(0, MAX_DIGEST_CARDS)
  const plain = await readCards(ctx, shown)
  const cards = notifier?.decidesOnPage === true ? await addDecisionUrls(ctx, group[0], shown, plain) : plain
  for (const [n, card] of cards.entries()) card.canUndo = card.held !== null && isHeldBy(shown[n], group[0])
  const [card] = cards
  return group[0].is_digest === 0 && card ? card : toDigest(cards, rows.length)
}

const isHeldBy = (row: ApprovalRow | undefined, { member_id }: NotificationMessageRow): boolean =>
  row !== undefined && parseHeld(row)?.by.id === member_id

/** Only this mail has the tokens: the store has their hashes. */
async function addDecisionUrls(
  ctx: Ctx,
  { project_id, member_id }: NotificationMessageRow,
  approvals: readonly ApprovalRow[],
  cards: readonly Card[],
): Promise<Card[]> {
  const links = approvals.map(({ id: approval_id, expires_at }) => {
    const token = newToken('decisionLink', ctx.world.random)
    const bound = { project_id, approval_id, member_id, expires_at: expires_at ?? isoNow(ctx), used_at: null }
    return { url: serviceUrl(ctx.config, `/decide#${token}`), row: { hash: tokenHash(token), ...bound } }
  })
  await inTx(ctx, (tx) =>
    insertDecisionLinks(
      tx.db,
      links.map(({ row }) => row),
    ),
  )
  return cards.map((card) => ({
    ...card,
    decideUrl: links.find(({ row }) => row.approval_id === card.approvalId)?.url ?? null,
  }))
}
