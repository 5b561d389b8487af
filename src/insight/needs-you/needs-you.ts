import { readApprovalViews } from '../../approvals/decisions/read-approvals.ts'
import { listChannelsOfKeys } from '../../customers/channels/rows.ts'
import { listConnectionsOfKeys } from '../../connections/connection/rows.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { toIsoTime } from '../../platform/ctx/world.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ApprovalRow, TaskRow } from '../../platform/store/tables.ts'
import { toTaskView } from '../../work/tasks/view.ts'
import { listUnreadableSecrets } from '../../identity/vault/rows.ts'
import {
  type ApprovalThread,
  type CountedRows,
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
import type { NeedsYouKind } from './needs-you-view.ts'

/** The console shows a few items of each kind and links to the page that has all of them. */
const MAX_PER_KIND = 50
const WEEK_MS = 7 * 86_400_000

/** Everything that waits for a person, the most urgent kinds first. */
export async function readNeedsYou(
  { db, world, vault }: Pick<Ctx, 'db' | 'world' | 'vault'>,
  projectIds: readonly string[],
) {
  // After a week an expired task is no longer of interest.
  const weekAgo = toIsoTime(world.clock.now() - WEEK_MS)
  const { lost, failing } = await readConnectionsAndChannels(db, projectIds, vault.kid)
  const parts = await Promise.all([
    lost,
    readApprovals(db, projectIds),
    readPart('conversation', listUnansweredThreads(db, projectIds, MAX_PER_KIND)),
    readExpiredTasks(listExpiredTasks(db, projectIds, weekAgo, MAX_PER_KIND)),
    ...failing,
    readPart('schedule', listFailingSchedules(db, projectIds, MAX_PER_KIND)),
    readPart('intake', listOpenIntakeQuestions(db, projectIds, MAX_PER_KIND)),
  ])
  const data = parts.flatMap(({ items }) => items)
  const counts: Partial<Record<NeedsYouKind, number>> = Object.assign({}, ...parts.map((part) => part.counts))
  const total = Object.values(counts).reduce((all, count) => all + count, 0)
  return { data, counts, has_more: total > data.length }
}

interface NeedsYouPart {
  items: object[]
  counts: Partial<Record<NeedsYouKind, number>>
}

async function readApprovals(db: Db, projectIds: readonly string[]): Promise<NeedsYouPart> {
  const { rows, total, questions } = await listPendingApprovals(db, projectIds, MAX_PER_KIND)
  return { items: await toApprovalItems(db, rows), counts: { approval: total - questions, question: questions } }
}

async function readPart(kind: NeedsYouKind, list: Promise<CountedRows<WaitingRow>>): Promise<NeedsYouPart> {
  const { rows, total } = await list
  const items = rows.map((row) => ({ kind, ...row, approval: null, thread: null, task: null }))
  return { items, counts: { [kind]: total } }
}

/** Without its secret a connection or channel fails, so one that has lost it is not listed as failing too. */
async function readConnectionsAndChannels(db: Db, projectIds: readonly string[], keyId: string) {
  const secrets = await listUnreadableSecrets(db, projectIds, keyId)
  const keys = secrets.map(({ key }) => key)
  const connections = await listConnectionsOfKeys(db, projectIds, keys)
  const channels = await listChannelsOfKeys(db, projectIds, keys)
  const since = secrets.map(({ updated_at }) => updated_at).sort()
  const rows = projectIds.flatMap((id) => {
    const owners = {
      connections: connections.filter(({ project_id }) => project_id === id).map(({ name }) => name),
      channels: channels.filter(({ project_id }) => project_id === id).map(({ address }) => address),
    }
    return toLostSecretsRow(id, owners, since.at(-1) ?? '')
  })
  return {
    lost: readPart('lost_secrets', Promise.resolve({ rows, total: rows.length })),
    failing: [
      readPart('connection', listFailingConnections(db, projectIds, MAX_PER_KIND, idsOf(connections))),
      readPart('channel', listFailingChannels(db, projectIds, MAX_PER_KIND, idsOf(channels))),
    ],
  }
}

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id)

/** One row for all connections and channels of a project: the cause is one, the key that is gone. */
function toLostSecretsRow(
  projectId: string,
  { connections, channels }: { connections: readonly string[]; channels: readonly string[] },
  since: string,
): WaitingRow[] {
  const names = [...connections, ...channels]
  if (names.length === 0) return []
  const counts = [countOf(connections, 'connection'), countOf(channels, 'channel')].filter((text) => text !== '')
  const title = `${counts.join(' and ')} lost ${names.length === 1 ? 'its' : 'their'} secret`
  return [{ id: projectId, project_id: projectId, title, detail: names.join(', '), since, wedge: null }]
}

const countOf = ({ length }: readonly string[], noun: string): string =>
  length === 0 ? '' : `${length} ${noun}${length === 1 ? '' : 's'}`

async function readExpiredTasks(list: Promise<CountedRows<TaskRow>>): Promise<NeedsYouPart> {
  const { rows, total } = await list
  return { items: rows.map(toExpiredTaskItem), counts: { expired_task: total } }
}

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
