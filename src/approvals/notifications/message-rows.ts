import type { ExpressionBuilder } from 'kysely'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ApprovalRow, NotificationMessageRow, Tables } from '../../platform/store/tables.ts'

export type DueNotice = Pick<ApprovalRow, 'id' | 'notify_at'>

export const MAX_LISTED_NOTICES = 50

/** Pending approvals that members must be notified of now, or whose next step of escalation is due; not those that are held. */
export const listDueNotices = prepareQuery<{ now: string }, DueNotice>((db, arg) =>
  db
    .selectFrom('approvals')
    .select(['id', 'notify_at'])
    .where('status', '=', 'pending')
    .where('notify_at', 'is not', null)
    .where('notify_at', '<=', arg('now'))
    .where('held_until', 'is', null)
    .orderBy('notify_at')
    .limit(MAX_LISTED_NOTICES),
)

/** Takes a due notice: of several replicas that see it, one. No row if another one took it, or if it is decided. */
export const updateNoticeTaken = prepareQuery<{ id: string; notify_at: string }, ApprovalRow>((db, arg) =>
  db
    .updateTable('approvals')
    .set({ notify_at: null })
    .where('id', '=', arg('id'))
    .where('status', '=', 'pending')
    .where('notify_at', '=', arg('notify_at'))
    .returningAll(),
)

/** A member whom this service has notified of the approval before is not notified again. */
export async function insertNotificationMessages(db: Db, rows: NotificationMessageRow[]): Promise<void> {
  if (rows.length === 0) return
  const query = db.insertInto('notification_messages').values(rows)
  await query.onConflict((conflict) => conflict.columns(['approval_id', 'member_id', 'kind']).doNothing()).execute()
  for (const id of new Set(rows.map(({ approval_id }) => approval_id))) await updateApprovalHasMessages(db, { id })
}

const updateApprovalHasMessages = prepareQuery<{ id: string }>((db, arg) =>
  db.updateTable('approvals').set({ has_messages: 1 }).where('id', '=', arg('id')).$castTo<never>(),
)

const MAX_LISTED_MESSAGES = 500

/** Messages that wait to be sent, the longest waiting first. */
export const listDueMessages = prepareQuery<{ now: string }, NotificationMessageRow>((db, arg) =>
  db
    .selectFrom('notification_messages')
    .selectAll()
    .where('state', '=', 'waiting')
    .where('due_at', '<=', arg('now'))
    .where((eb) => eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', arg('now'))]))
    .orderBy('due_at')
    .limit(MAX_LISTED_MESSAGES),
)

/** As in the condition of the index `approvals_outdated`. */
const isDecidedOrVotedOn = (eb: ExpressionBuilder<Tables, 'approvals'>) =>
  eb.or([eb('approvals.status', '!=', 'pending'), eb('approvals.version', '>', 0)])

/**
 * Messages that were sent and show an approval as it was before a vote, or as pending although it is decided. It reads the
 * approvals with such messages, which are few, and not the messages of all approvals that wait.
 */
export const listOutdatedMessages = prepareQuery<{ now: string }, NotificationMessageRow>((db, arg) =>
  db
    .selectFrom('notification_messages')
    .selectAll()
    .where('shown', '=', 'pending')
    .where('approval_id', 'in', (eb) =>
      eb.selectFrom('approvals').select('approvals.id').where('has_messages', '=', 1).where(isDecidedOrVotedOn),
    )
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('approvals')
          .select('approvals.id')
          .whereRef('approvals.id', '=', 'notification_messages.approval_id')
          .where((approval) =>
            approval.or([
              approval('approvals.status', '!=', 'pending'),
              approval('approvals.version', '!=', approval.ref('notification_messages.shown_version')),
            ]),
          ),
      ),
    )
    .where('state', '=', 'sent')
    .where('due_at', '<=', arg('now'))
    .where((eb) => eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', arg('now'))]))
    .limit(MAX_LISTED_MESSAGES),
)

const isDecidedWithoutMessages = (eb: ExpressionBuilder<Tables, 'approvals'>) =>
  eb.and([
    eb('has_messages', '=', 1),
    eb('approvals.status', '!=', 'pending'),
    eb.not(
      eb.exists(
        eb
          .selectFrom('notification_messages')
          .select('notification_messages.id')
          .whereRef('notification_messages.approval_id', '=', 'approvals.id')
          .where('notification_messages.shown', '=', 'pending'),
      ),
    ),
  ])

/** Call it once a message shows the decision: after the last one, the approval has no outdated messages any more. */
export const updateApprovalWithoutMessages = prepareQuery<{ id: string }>((db, arg) =>
  db
    .updateTable('approvals')
    .set({ has_messages: 0 })
    .where('id', '=', arg('id'))
    .where(isDecidedWithoutMessages)
    .$castTo<never>(),
)

/** Two replicas that rewrite the last two messages at the same time each see the message of the other one. */
export const updateApprovalsWithoutMessages = prepareQuery<object>((db) =>
  db.updateTable('approvals').set({ has_messages: 0 }).where(isDecidedWithoutMessages).$castTo<never>(),
)

/**
 * Claims messages as they were listed: of several replicas that saw them, one gets each. If that replica dies, the claim
 * ends and another one sends the message, perhaps a second time. Several messages become one digest.
 */
export async function claimMessages(
  db: Db,
  listed: readonly NotificationMessageRow[],
  claim: { now: string; claimed_by: string; claimed_until: string },
): Promise<NotificationMessageRow[]> {
  const { now, claimed_by, claimed_until } = claim
  const ids = listed.map(({ id }) => id)
  const together = listed.length > 1 ? { is_digest: 1 as const } : {}
  const claimed = await db
    .updateTable('notification_messages')
    .set((eb) => ({ attempts: eb('attempts', '+', 1), claimed_by, claimed_until, ...together }))
    .where('id', 'in', ids)
    .where('shown', '=', 'pending')
    .where('due_at', '<=', now)
    .where((eb) => eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', now)]))
    .returningAll()
    .execute()
  return claimed.toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/** What an attempt to send or rewrite a message has changed. */
export type MessageOutcome = Partial<
  Pick<
    NotificationMessageRow,
    'state' | 'due_at' | 'attempts' | 'external_id' | 'shown' | 'shown_version' | 'error' | 'sent_at'
  >
>

/**
 * Ends one claim of several messages with the same outcome. Nothing is written after the claim has ended and another
 * replica took the messages.
 */
export async function updateMessageOutcomes(
  db: Db,
  claimed: readonly NotificationMessageRow[],
  outcome: MessageOutcome,
): Promise<void> {
  const [first] = claimed
  if (!first) return
  const ids = claimed.map(({ id }) => id)
  await db
    .updateTable('notification_messages')
    .set({ ...outcome, claimed_by: null, claimed_until: null })
    .where('id', 'in', ids)
    .where('claimed_by', '=', first.claimed_by)
    .where('claimed_until', '=', first.claimed_until)
    .execute()
}

/** The messages of one digest, which are one message of the service. */
export const listMessagesOfDigest = prepareQuery<
  Pick<NotificationMessageRow, 'project_id' | 'member_id' | 'kind' | 'external_id'>,
  NotificationMessageRow
>((db, arg) =>
  db
    .selectFrom('notification_messages')
    .selectAll()
    .where('project_id', '=', arg('project_id'))
    .where('member_id', '=', arg('member_id'))
    .where('kind', '=', arg('kind'))
    .where('external_id', '=', arg('external_id'))
    .where('is_digest', '=', 1)
    .orderBy('id'),
)

/** Returns how many were deleted. */
export async function deleteMessagesBefore(db: Db, before: string, limit: number): Promise<number> {
  const old = db
    .selectFrom('notification_messages')
    .select('id')
    .where('created_at', '<', before)
    .where('shown', '!=', 'pending')
    .limit(limit)
  return (await db.deleteFrom('notification_messages').where('id', 'in', old).returning('id').execute()).length
}
