import { isApprover, isExcludedRequester } from '../people/approvers.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import { isoNow, toIsoTime } from '../../platform/ctx/world.ts'
import { StoreUnavailable } from '../../platform/store/errors.ts'
import type { ApprovalRow, NotificationMessageRow, NotificationSettingsRow } from '../../platform/store/tables.ts'
import { findTaskUnscoped } from '../../work/tasks/rows.ts'
import { escalateApproval } from './escalate.ts'
import { type LinkedMember, listLinkedMembers } from './links/link-rows.ts'
import {
  type DueNotice,
  insertNotificationMessages,
  listDueNotices,
  MAX_LISTED_NOTICES,
  updateNoticeTaken,
} from './message-rows.ts'
import { listNotificationSettings, listNotifiers } from './rows.ts'
import { DEFAULT_SETTINGS, type NotificationSettings, parseSettings, planNotice } from './settings.ts'

/**
 * Plans the messages about approvals that are due: each once over all replicas. They are planned at the same time, so that
 * they share a commit, and one that fails delays no other. Returns whether more may be due.
 */
export async function planDueNotices(ctx: Ctx): Promise<boolean> {
  const due = await listDueNotices(ctx.db, { now: isoNow(ctx) })
  const isPlanned = await Promise.all(due.map((notice) => tryPlanApproval(ctx, notice)))
  return due.length === MAX_LISTED_NOTICES && isPlanned.includes(true)
}

async function tryPlanApproval(ctx: Ctx, { id, notify_at }: DueNotice): Promise<boolean> {
  try {
    await inTx(ctx, async (tx) => {
      const [row] = await updateNoticeTaken(tx.db, { id, notify_at: notify_at ?? '' })
      if (row) await planMessages(tx, await escalateApproval(tx, row))
    })
    return true
  } catch (err) {
    if (err instanceof StoreUnavailable) throw err
    ctx.world.log.error({ err, approval: id }, 'members were not notified of an approval')
    return false
  }
}

/** Stores one message for every member who may decide now, and for each service that the member chose. */
async function planMessages(tx: Tx, row: ApprovalRow): Promise<void> {
  const { project_id } = row
  const [notifiers, links, settings] = await Promise.all([
    listNotifiers(tx.db, { project_id }),
    listLinkedMembers(tx.db, { project_id }),
    listNotificationSettings(tx.db, { project_id }),
  ])
  const kinds = notifiers.map(({ kind }) => kind)
  const task = row.excludes_requester === 1 ? await findTaskUnscoped(tx.db, row.task_id) : undefined
  const notified = links.filter(
    ({ kind, member_id, role, email }) =>
      kinds.includes(kind) &&
      isApprover(row, { id: member_id, role, email }) &&
      !isExcludedRequester(row, task?.requested_by_id, member_id),
  )
  const messages = notified.flatMap((link) => toMessage(tx, row, link, settingsOf(settings, link.member_id)))
  await insertNotificationMessages(tx.db, messages)
}

/** A member without settings has those of the project. */
function settingsOf(rows: NotificationSettingsRow[], memberId: string): NotificationSettings {
  const ofMember = rows.find(({ member_id }) => member_id === memberId)
  return parseSettings(ofMember ?? rows.find(({ member_id }) => member_id === '')) ?? DEFAULT_SETTINGS
}

function toMessage(
  tx: Tx,
  row: ApprovalRow,
  { member_id, kind, address }: LinkedMember,
  settings: NotificationSettings,
): NotificationMessageRow[] {
  const plan = planNotice(settings, row.risk, tx.world.clock.now())
  if (!plan.via.includes(kind)) return []
  return [
    {
      id: tx.world.newId('ntm'),
      project_id: row.project_id,
      approval_id: row.id,
      member_id,
      kind,
      address,
      state: 'waiting',
      is_digest: plan.isDigest ? 1 : 0,
      due_at: toIsoTime(plan.dueAt),
      attempts: 0,
      claimed_by: null,
      claimed_until: null,
      external_id: null,
      shown: 'pending',
      shown_version: row.version,
      error: null,
      created_at: isoNow(tx),
      sent_at: null,
    },
  ]
}
