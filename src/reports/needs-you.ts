import { readApprovalViews } from '../approvals/read-approvals.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { toIsoTime } from '../ctx/world.ts'
import type { Db } from '../store/store.ts'
import type { ApprovalRow, TaskRow } from '../store/tables.ts'
import { toTaskView } from '../tasks/view.ts'
import {
  type ApprovalThread,
  listExpiredTasks,
  listFailingChannels,
  listFailingConnections,
  listFailingSchedules,
  listOpenIntakeQuestions,
  listPendingApprovals,
  listThreadsOfTasks,
  listUnansweredThreads,
  type WaitingRow,
} from './needs-you-rows.ts'
import type { NeedsYouItemView } from './needs-you-view.ts'

/** The console shows a few items of each kind and links to the page that has all of them. */
const MAX_PER_KIND = 50
const WEEK_MS = 7 * 86_400_000

/** Everything that waits for a person, the most urgent kinds first. */
export async function readNeedsYou({ db, world }: Pick<Ctx, 'db' | 'world'>, projectIds: readonly string[]) {
  const limit = MAX_PER_KIND + 1
  // After a week an expired task is no longer of interest.
  const weekAgo = toIsoTime(world.clock.now() - WEEK_MS)
  const reads: (() => Promise<object[]>)[] = [
    async () => toApprovalItems(db, await listPendingApprovals(db, projectIds, limit)),
    async () => toItems('conversation', await listUnansweredThreads(db, projectIds, limit)),
    async () => (await listExpiredTasks(db, projectIds, weekAgo, limit)).map(toExpiredTaskItem),
    async () => toItems('connection', await listFailingConnections(db, projectIds, limit)),
    async () => toItems('channel', await listFailingChannels(db, projectIds, limit)),
    async () => toItems('schedule', await listFailingSchedules(db, projectIds, limit)),
    async () => toItems('intake', await listOpenIntakeQuestions(db, projectIds, limit)),
  ]
  const lists = await Promise.all(reads.map((read) => read()))
  return {
    data: lists.flatMap((items) => items.slice(0, MAX_PER_KIND)),
    has_more: lists.some((items) => items.length > MAX_PER_KIND),
  }
}

const toItems = (kind: NeedsYouItemView['kind'], rows: readonly WaitingRow[]): object[] =>
  rows.map((row) => ({ kind, ...row, approval: null, thread: null, task: null }))

async function toApprovalItems(db: Db, rows: readonly ApprovalRow[]): Promise<object[]> {
  const approvals = await readApprovalViews(db, rows)
  const threads = await listThreadsOfTasks(
    db,
    rows.map(({ task_id }) => task_id),
  )
  return rows.map((row, index) => toApprovalItem(row, approvals[index], threads.get(row.task_id) ?? null))
}

function toApprovalItem(row: ApprovalRow, approval: object | undefined, thread: ApprovalThread | null): object {
  const { id, project_id, wedge, action, path, policy_reason, created_at } = row
  return {
    kind: path === 'question' ? 'question' : 'approval',
    id,
    project_id,
    title: action,
    detail: policy_reason,
    since: created_at,
    wedge,
    approval,
    thread,
    task: null,
  }
}

function toExpiredTaskItem(row: TaskRow): object {
  const { id, project_id, wedge, task_type, finished_at, created_at } = row
  return {
    kind: 'expired_task',
    id,
    project_id,
    title: task_type,
    detail: null,
    since: finished_at ?? created_at,
    wedge,
    approval: null,
    thread: null,
    task: toTaskView(row, []),
  }
}
