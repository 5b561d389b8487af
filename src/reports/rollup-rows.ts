import { createBulkInsert } from '../store/dialect.ts'
import type { Db } from '../store/store.ts'
import type { Tables, TaskRow } from '../store/tables.ts'
import { taskIdsInOrder } from '../tasks/ordered-id-rows.ts'

export type RollupSource = 'tasks' | 'approvals'

export async function listAllProjectIds(db: Db): Promise<string[]> {
  return (await db.selectFrom('projects').select('id').orderBy('id').execute()).map(({ id }) => id)
}

export async function findRollupMark(db: Db, project_id: string, source: RollupSource): Promise<string> {
  const row = await db
    .selectFrom('report_marks')
    .select('folded_to')
    .where('project_id', '=', project_id)
    .where('source', '=', source)
    .executeTakeFirst()
  return row?.folded_to ?? ''
}

/** One of concurrent replicas moves the mark; false for the others, which then add nothing. */
export async function updateRollupMark(
  db: Db,
  project_id: string,
  source: RollupSource,
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

const TASK_COLUMNS = ['tasks.id', 'created_at', 'status', 'wedge', 'client_id', 'cost_micros'] as const
export type RollupTask = Pick<TaskRow, 'id' | 'created_at' | 'status' | 'wedge' | 'client_id' | 'cost_micros'>

export interface IdRange {
  projectId: string
  after: string
  upTo: string
  limit: number
}

export function listTasksInRange(db: Db, { projectId, after, upTo, limit }: IdRange): Promise<RollupTask[]> {
  return db
    .selectFrom('tasks')
    .select(TASK_COLUMNS)
    .where(
      'id',
      'in',
      taskIdsInOrder(db, projectId, 'asc', limit, (ids) => ids.where('id', '>', after).where('id', '<=', upTo)),
    )
    .orderBy('id')
    .execute()
}

const APPROVAL_COLUMNS = ['approvals.id', 'created_at', 'status', 'decided_at', 'decided_by_kind'] as const

export function listApprovalsInRange(db: Db, { projectId, after, upTo, limit }: IdRange) {
  return db
    .selectFrom('approvals')
    .select(APPROVAL_COLUMNS)
    .where('project_id', '=', projectId)
    .where('id', '>', after)
    .where('id', '<=', upTo)
    .orderBy('id')
    .limit(limit)
    .execute()
}

const insertOpenRow = createBulkInsert('report_open', ['project_id', 'source', 'id'])

export function insertOpenIds(db: Db, projectId: string, source: RollupSource, ids: readonly string[]): Promise<void> {
  return insertOpenRow(
    db,
    ids.map((id) => [projectId, source, id]),
  )
}

/** Tasks in `report_open` that are final now. */
export function listFinishedOpenTasks(
  db: Db,
  projectId: string,
  final: readonly string[],
  limit: number,
): Promise<RollupTask[]> {
  return db
    .selectFrom('report_open')
    .innerJoin('tasks', 'tasks.id', 'report_open.id')
    .select(TASK_COLUMNS)
    .where('report_open.project_id', '=', projectId)
    .where('report_open.source', '=', 'tasks')
    .where('status', 'in', final)
    .limit(limit)
    .execute()
}

export function listDecidedOpenApprovals(db: Db, projectId: string, limit: number) {
  return db
    .selectFrom('report_open')
    .innerJoin('approvals', 'approvals.id', 'report_open.id')
    .select(APPROVAL_COLUMNS)
    .where('report_open.project_id', '=', projectId)
    .where('report_open.source', '=', 'approvals')
    .where('status', '!=', 'pending')
    .limit(limit)
    .execute()
}

/** Returns the ids that this call deleted: another replica may have taken the rest. */
export async function deleteOpenIds(
  db: Db,
  projectId: string,
  source: RollupSource,
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
