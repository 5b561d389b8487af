import { parseRole } from '../accounts/member-rows.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import { isRoleAtLeast } from '../ctx/scope.ts'
import { isoNow, toIsoTime } from '../ctx/world.ts'
import type { ApprovalRow, NotificationMessageRow, NotificationSettingsRow } from '../store/tables.ts'
import { type LinkedMember, listLinkedMembers } from './link-rows.ts'
import { insertNotificationMessages, listDueNotices, updateNoticeTaken } from './message-rows.ts'
import { listNotificationSettings, listNotifiers } from './rows.ts'
import { DEFAULT_SETTINGS, type NotificationSettings, parseSettings, planNotice } from './settings.ts'

/** Plans the messages about approvals that are due: each once over all replicas. */
export async function planDueNotices(ctx: Ctx): Promise<void> {
  for (const { id, notify_at } of await listDueNotices(ctx.db, { now: isoNow(ctx) })) {
    await inTx(ctx, async (tx) => {
      const [row] = await updateNoticeTaken(tx.db, { id, notify_at: notify_at ?? '' })
      if (row) await planMessages(tx, row)
    })
  }
}

/** Stores one message for every member who may decide and for each service that the member chose. */
async function planMessages(tx: Tx, row: ApprovalRow): Promise<void> {
  const { project_id } = row
  const [notifiers, links, settings] = await Promise.all([
    listNotifiers(tx.db, { project_id }),
    listLinkedMembers(tx.db, { project_id }),
    listNotificationSettings(tx.db, { project_id }),
  ])
  const kinds = notifiers.map(({ kind }) => kind)
  const told = links.filter((link) => kinds.includes(link.kind) && mayBeTold(link))
  const ofAssigneeFirst = told.toSorted(
    (a, b) => Number(b.member_id === row.assignee_id) - Number(a.member_id === row.assignee_id),
  )
  const messages = ofAssigneeFirst.flatMap((link) => toMessage(tx, row, link, settingsOf(settings, link.member_id)))
  await insertNotificationMessages(tx.db, messages)
}

const mayBeTold = ({ role }: LinkedMember): boolean => isRoleAtLeast(parseRole(role), 'operator')

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
      error: null,
      created_at: isoNow(tx),
      sent_at: null,
    },
  ]
}
