import { type SqlBool, sql } from 'kysely'
import type { PageQuery } from '../../platform/http/page.ts'
import { isInProjects, listNewestOfProjects, listNewestPage, matchColumns } from '../../platform/store/newest-page.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ApprovalRow, NotifierRow, TaskRow } from '../../platform/store/tables.ts'
import type { ApprovalPath } from './view.ts'

export const insertApproval = prepareQuery<ApprovalRow>((db, arg) =>
  db
    .insertInto('approvals')
    .values({
      id: arg('id'),
      project_id: arg('project_id'),
      task_id: arg('task_id'),
      wedge: arg('wedge'),
      task_type: arg('task_type'),
      action: arg('action'),
      risk: arg('risk'),
      path: arg('path'),
      payload: arg('payload'),
      payload_sha256: arg('payload_sha256'),
      edited: null,
      status: arg('status'),
      policy_reason: arg('policy_reason'),
      policy_rule: arg('policy_rule'),
      reason: null,
      revise: 0,
      note: null,
      connection_id: arg('connection_id'),
      connection: arg('connection'),
      client_id: arg('client_id'),
      tool: arg('tool'),
      created_at: arg('created_at'),
      expires_at: arg('expires_at'),
      decided_at: arg('decided_at'),
      decided_by_kind: arg('decided_by_kind'),
      decided_by_id: arg('decided_by_id'),
      needed: arg('needed'),
      approvers: arg('approvers'),
      excludes_requester: arg('excludes_requester'),
      escalate: arg('escalate'),
      escalated_at: null,
      notify_at: arg('notify_at'),
      assignee_id: null,
      version: 0,
      has_messages: 0,
    })
    .$castTo<never>(),
)

const findInProjects =
  <Row extends { project_id: string }>(byId: (db: Db, args: { id: string }) => Promise<Row[]>) =>
  async (db: Db, projectIds: readonly string[], id: string): Promise<Row | undefined> =>
    (await byId(db, { id })).find((row) => projectIds.includes(row.project_id))

/** Not limited to a scope: never pass an id that came from a caller. */
export const findApprovalUnscoped = prepareQuery<{ id: string }, ApprovalRow>((db, arg) =>
  db.selectFrom('approvals').selectAll().where('id', '=', arg('id')),
)

/** Not limited to a scope: never pass ids that came from a caller. */
export async function listApprovalsUnscoped(db: Db, ids: readonly string[]): Promise<ApprovalRow[]> {
  return ids.length === 0 ? [] : db.selectFrom('approvals').selectAll().where('id', 'in', ids).execute()
}

export const findApproval = findInProjects(findApprovalUnscoped)

/** The tool calls of a task that a person or a rule has approved. */
export const listApprovedToolCalls = prepareQuery<{ task_id: string }, Pick<ApprovalRow, 'action'>>((db, arg) =>
  db
    .selectFrom('approvals')
    .select('action')
    .where('task_id', '=', arg('task_id'))
    .where('path', '=', 'tool')
    .where('status', 'in', ['approved', 'auto_approved']),
)

/** The columns that a decision needs. Reading a third of the columns takes half the time. */
export type DecidableApproval = Pick<ApprovalRow, (typeof DECIDABLE_COLUMNS)[number]>

export const DECIDABLE_COLUMNS = [
  'id',
  'project_id',
  'task_id',
  'wedge',
  'action',
  'path',
  'payload',
  'edited',
  'client_id',
  'connection_id',
  'payload_sha256',
  'needed',
  'approvers',
  'excludes_requester',
] as const

/** Not limited to a scope: never pass an id that came from a caller. */
export const findDecidableUnscoped = prepareQuery<{ id: string }, DecidableApproval>((db, arg) =>
  db.selectFrom('approvals').select(DECIDABLE_COLUMNS).where('id', '=', arg('id')),
)

export const findDecidableApproval = findInProjects(findDecidableUnscoped)

export interface ApprovalFilter extends PageQuery {
  status?: string | undefined
  task_id?: string | undefined
  wedge?: string | undefined
  path?: ApprovalPath | undefined
  assignee_id?: string | undefined
  held_by_id?: string | undefined
}

/** Each finds few approvals, with an index of its own. */
const OWNER_COLUMNS = ['task_id', 'held_by_id', 'assignee_id'] as const

export function listApprovals(db: Db, projectIds: readonly string[], filter: ApprovalFilter): Promise<ApprovalRow[]> {
  const { status, wedge, path } = filter
  const [owner, ...owners] = OWNER_COLUMNS.filter((column) => filter[column] !== undefined)
  const approvals = db.selectFrom('approvals').selectAll()
  if (owner === undefined)
    return listNewestOfProjects({
      projectIds,
      page: filter,
      rows: { query: approvals, filters: matchColumns({ status, wedge, path }) },
      searchIn: (projectId) => searchApprovals(db, projectId, filter),
    })
  const owned = approvals.where(owner, '=', filter[owner] ?? '')
  const others = Object.fromEntries(owners.map((column) => [column, filter[column]]))
  const columns = matchColumns({ status, wedge, path, ...others })
  return listNewestPage(owned, filter, [isInProjects(projectIds), ...columns])
}

function searchApprovals(db: Db, projectId: string, { status, wedge, path }: ApprovalFilter) {
  const ofProject = db.selectFrom('approvals').selectAll().where('project_id', '=', projectId)
  if (status !== undefined)
    return { query: ofProject.where('status', '=', status), filters: matchColumns({ wedge, path }) }
  const approvals = wedge === undefined ? ofProject : ofProject.where('wedge', '=', wedge)
  return { query: approvals, filters: matchColumns({ path }) }
}

/** Actions have no index, so only this many approvals of the wedge are searched for earlier decisions. */
const MAX_SEARCHED_APPROVALS = 2_000

/** The newest decisions on the same action of the wedge before an approval, newest first. */
export function listEarlierDecisions(
  db: Db,
  { id, project_id, wedge, action }: Pick<ApprovalRow, 'id' | 'project_id' | 'wedge' | 'action'>,
  limit: number,
): Promise<ApprovalRow[]> {
  const recent = db
    .selectFrom('approvals')
    .select(['id', 'action', 'status'])
    .where('project_id', '=', project_id)
    .where('wedge', '=', wedge)
    .where('id', '<', id)
    .orderBy('id', 'desc')
    .limit(MAX_SEARCHED_APPROVALS)
  const decided = db
    .selectFrom(recent.as('recent'))
    .select('recent.id')
    .where('recent.action', '=', action)
    .where('recent.status', '!=', 'pending')
    .orderBy('recent.id', 'desc')
    .limit(limit)
  return db.selectFrom('approvals').selectAll().where('id', 'in', decided).orderBy('id', 'desc').execute()
}

const PAST_COLUMNS = [
  'id',
  'task_id',
  'action',
  'payload',
  'edited',
  'connection',
  'tool',
  'status',
  'needed',
  'approvers',
  'decided_by_kind',
  'created_at',
] as const

export type PastApproval = Pick<ApprovalRow, (typeof PAST_COLUMNS)[number]> & Pick<TaskRow, 'constraints'>

/** The newest approvals of a wedge that rules can give, newest first. */
export function listPastApprovals(db: Db, projectId: string, wedge: string, limit: number): Promise<PastApproval[]> {
  return pastApprovals(db, projectId)
    .where('wedge', '=', wedge)
    .where('path', '!=', 'question')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** The newest of these approvals with this status, one more than the page. */
export function listPastDecisions(
  db: Db,
  projectId: string,
  wedge: string,
  status: 'approved' | 'expired',
  page: PageQuery,
): Promise<PastApproval[]> {
  const ofProject = pastApprovals(db, projectId, status).where('status', '=', status)
  return listNewestPage(ofProject, page, [...matchColumns({ wedge }), IS_BY_RULE])
}

const IS_BY_RULE = sql<SqlBool>`path <> 'question'`

/** Edited approvals have an index of their own: they are few, and must be found behind any number of others. */
export type Refusal = 'edited' | 'rejected'

/** The newest of these approvals that a person refused, one more than the page. `actions` are in lower case. */
export function listRefusedApprovals(
  db: Db,
  projectId: string,
  wedge: string,
  { refusal, actions }: { refusal: Refusal; actions: readonly string[] },
  page: PageQuery,
): Promise<PastApproval[]> {
  const ofProject = pastApprovals(db, projectId, refusal)
  const filters = [IS_BY_RULE, mayBeAction(actions)]
  if (refusal === 'edited')
    return listNewestPage(ofProject.where('wedge', '=', wedge).where('edited', 'is not', null), page, filters)
  // The service closes the other requests of a task when one is rejected. No person has decided about them.
  const isByPerson = sql<SqlBool>`coalesce(decided_by_kind, '') <> 'system'`
  const rejected = ofProject.where('status', '=', 'rejected')
  return listNewestPage(rejected, page, [...matchColumns({ wedge }), isByPerson, ...filters])
}

/** Databases know the case of ASCII letters only, or of other letters than JavaScript, so other names always match. */
const mayBeAction = (actions: readonly string[]) =>
  sql<SqlBool>`(lower(action) in (${sql.join(actions)}) or octet_length(action) > length(action))`

/** Whether a task requires approval for every action matters only for what was approved. */
function pastApprovals(db: Db, projectId: string, kind?: 'approved' | 'expired' | Refusal) {
  const ofTask = db
    .selectFrom('tasks')
    .select('constraints')
    .where('tasks.id', '=', sql.ref<string>('approvals.task_id'))
  const isNeeded = kind === undefined || kind === 'approved'
  return db
    .selectFrom('approvals')
    .select(PAST_COLUMNS)
    .select((isNeeded ? sql<string>`(${ofTask})` : sql<string>`'{}'`).as('constraints'))
    .where('project_id', '=', projectId)
}

/**
 * A person's decision, as a compare-and-set: concurrent decisions have one winner, and none wins after `expires_at` or
 * while an approval is held.
 */
export const updateApprovalDecision = prepareQuery<
  {
    id: string
    status: string
    edited: string | null
    payload_sha256: string
    reason: string | null
    revise: ApprovalRow['revise']
    note: string | null
    decided_at: string
    /** When the person decided; before `decided_at` if the approval was held. */
    made_at: string
    decided_by_kind: string
    decided_by_id: string
  },
  Pick<ApprovalRow, 'id' | 'created_at'>
>((db, arg) =>
  db
    .updateTable('approvals')
    .set({
      status: arg('status'),
      edited: arg('edited'),
      payload_sha256: arg('payload_sha256'),
      reason: arg('reason'),
      revise: arg('revise'),
      note: arg('note'),
      decided_at: arg('decided_at'),
      decided_by_kind: arg('decided_by_kind'),
      decided_by_id: arg('decided_by_id'),
    })
    .where('id', '=', arg('id'))
    .where('status', '=', 'pending')
    .where('expires_at', '>', arg('made_at'))
    .where('held_until', 'is', null)
    .returning(['id', 'created_at']),
)

/** A service through which the project notifies its members of approvals. */
export const findAnyNotifier = prepareQuery<{ project_id: string }, Pick<NotifierRow, 'id'>>((db, arg) =>
  db.selectFrom('notifiers').select('id').where('project_id', '=', arg('project_id')).limit(1),
)
