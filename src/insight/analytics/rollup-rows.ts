import { createBulkInsert } from '../../platform/store/dialect.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ApprovalRow, Tables, TaskRow } from '../../platform/store/tables.ts'

export type SourceName = 'tasks' | 'approvals'

/** How the rows of one table are read for the reports. */
export interface RollupSource<Row> {
  source: SourceName
  read: (db: Db, range: IdRange) => Promise<Row[]>
  readById: (db: Db, ids: readonly string[]) => Promise<Row[]>
}

export async function listAllProjectIds(db: Db): Promise<string[]> {
  return (await db.selectFrom('projects').select('id').orderBy('id').execute()).map(({ id }) => id)
}

export async function findRollupMark(db: Db, projectId: string, source: SourceName): Promise<string> {
  const mark = await db
    .selectFrom('report_marks')
    .select('folded_to')
    .where('project_id', '=', projectId)
    .where('source', '=', source)
    .executeTakeFirst()
  return mark?.folded_to ?? ''
}

/** One of concurrent replicas moves the mark; false for the others, which then add nothing. */
export async function updateRollupMark(
  db: Db,
  project_id: string,
  source: SourceName,
  from: string,
  to: string,
): Promise<boolean> {
  const moved = await db
    .insertInto('report_marks')
    .values({ project_id, source, folded_to: to })
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'source'])
        .doUpdateSet({ folded_to: to })
        .where('report_marks.folded_to', '=', from),
    )
    .returning('folded_to')
    .executeTakeFirst()
  return moved !== undefined
}

export const TASK_COLUMNS = ['id', 'project_id', 'created_at', 'status', 'wedge', 'client_id', 'cost_micros'] as const
export type RollupTask = Pick<TaskRow, (typeof TASK_COLUMNS)[number]>

interface IdRange {
  projectId: string
  after: string
  upTo?: string
  limit: number
}

function listTasksInRange(db: Db, { projectId, after, upTo, limit }: IdRange): Promise<RollupTask[]> {
  return db
    .selectFrom('tasks')
    .select(TASK_COLUMNS)
    .where('project_id', '=', projectId)
    .where('id', '>', after)
    .$if(upTo !== undefined, (query) => query.where('id', '<=', upTo ?? ''))
    .orderBy('id')
    .limit(limit)
    .execute()
}

export const APPROVAL_COLUMNS = [
  'id',
  'project_id',
  'path',
  'created_at',
  'status',
  'decided_at',
  'decided_by_kind',
] as const

export type RollupApproval = Pick<ApprovalRow, (typeof APPROVAL_COLUMNS)[number]>

function listApprovalsInRange(db: Db, { projectId, after, upTo, limit }: IdRange): Promise<RollupApproval[]> {
  return db
    .selectFrom('approvals')
    .select(APPROVAL_COLUMNS)
    .where('project_id', '=', projectId)
    .where('id', '>', after)
    .$if(upTo !== undefined, (query) => query.where('id', '<=', upTo ?? ''))
    .orderBy('id')
    .limit(limit)
    .execute()
}

const insertOpenRow = createBulkInsert('report_open', ['project_id', 'source', 'id'])

export function insertOpenIds(db: Db, projectId: string, source: SourceName, ids: readonly string[]): Promise<void> {
  return insertOpenRow(
    db,
    ids.map((id) => [projectId, source, id]),
  )
}

/** The next ids in `report_open`, in order. */
export async function listOpenIds(
  db: Db,
  projectId: string,
  source: SourceName,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('report_open')
    .select('id')
    .where('project_id', '=', projectId)
    .where('source', '=', source)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

function listTasksById(db: Db, ids: readonly string[]): Promise<RollupTask[]> {
  return db.selectFrom('tasks').select(TASK_COLUMNS).where('id', 'in', ids).execute()
}

function listApprovalsById(db: Db, ids: readonly string[]): Promise<RollupApproval[]> {
  return db.selectFrom('approvals').select(APPROVAL_COLUMNS).where('id', 'in', ids).execute()
}

export const TASK_SOURCE: RollupSource<RollupTask> = {
  source: 'tasks',
  read: listTasksInRange,
  readById: listTasksById,
}

export const APPROVAL_SOURCE: RollupSource<RollupApproval> = {
  source: 'approvals',
  read: listApprovalsInRange,
  readById: listApprovalsById,
}

/** Returns the ids that this call deleted: another replica may have taken the rest. */
export async function deleteOpenIds(
  db: Db,
  projectId: string,
  source: SourceName,
  ids: string[],
): Promise<Set<string>> {
  const deleted = await db
    .deleteFrom('report_open')
    .where('project_id', '=', projectId)
    .where('source', '=', source)
    .where('id', 'in', ids)
    .returning('id')
    .execute()
  return new Set(deleted.map(({ id }) => id))
}

export const addRunSums = addSumsTo('report_runs', ['project_id', 'day', 'wedge', 'status'], ['runs', 'cost_micros'])

export const addClientSums = addSumsTo('report_clients', ['project_id', 'span', 'client_id'], ['runs', 'cost_micros'])

export const addApprovalSums = addSumsTo('report_approvals', ['project_id', 'span', 'status', 'wait_ms'], ['n'])

/** Adds rows to existing sums, or inserts them. */
function addSumsTo<T extends 'report_runs' | 'report_clients' | 'report_approvals'>(
  table: T,
  key: readonly (keyof Tables[T] & string)[],
  sums: readonly (keyof Tables[T] & string)[],
) {
  const columns = [...key, ...sums]
  const insert = createBulkInsert(table, columns, sums)
  return (db: Db, rows: readonly Tables[T][]): Promise<void> =>
    insert(
      db,
      rows.map((row) => columns.map((column) => row[column])),
    )
}
