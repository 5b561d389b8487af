import type { PageQuery } from '../http/page.ts'
import { listNewestPage } from '../store/newest-page.ts'
import type { Db } from '../store/store.ts'
import type { CaseHistoryRow, CaseRow } from '../store/tables.ts'

export async function insertCase(db: Db, row: CaseRow): Promise<void> {
  await db.insertInto('cases').values(row).execute()
}

export function findCase(db: Db, projectIds: readonly string[], id: string): Promise<CaseRow | undefined> {
  return db
    .selectFrom('cases')
    .selectAll()
    .where('id', '=', id)
    .where('project_id', 'in', projectIds)
    .executeTakeFirst()
}

/** Not limited to a scope: never pass an id that came from a caller. */
export function findCaseUnscoped(db: Db, id: string): Promise<CaseRow | undefined> {
  return db.selectFrom('cases').selectAll().where('id', '=', id).executeTakeFirst()
}

export interface CaseFilter extends PageQuery {
  wedge?: string | undefined
  status?: string | undefined
  stage?: string | undefined
  client_id?: string | undefined
}

export function listCases(db: Db, projectIds: readonly string[], filter: CaseFilter): Promise<CaseRow[]> {
  let query = db.selectFrom('cases').selectAll().where('project_id', 'in', projectIds)
  if (filter.wedge !== undefined) query = query.where('wedge', '=', filter.wedge)
  if (filter.status !== undefined) query = query.where('status', '=', filter.status)
  if (filter.stage !== undefined) query = query.where('stage', '=', filter.stage)
  if (filter.client_id !== undefined) query = query.where('client_id', '=', filter.client_id)
  return listNewestPage(query, filter)
}

/** Locks the case until the commit, with an update that changes nothing. SQLite has one writer, so it needs no lock. */
export function lockCase(db: Db, id: string): Promise<CaseRow | undefined> {
  return db
    .updateTable('cases')
    .set((eb) => ({ updated_at: eb.ref('updated_at') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

export type CaseState = Pick<CaseRow, 'title' | 'stage' | 'status' | 'data' | 'updated_at' | 'closed_at'>

/** Call it only after `lockCase`. */
export async function updateCase(db: Db, id: string, state: CaseState): Promise<void> {
  await db.updateTable('cases').set(state).where('id', '=', id).execute()
}

/** Call it only after `lockCase` or in the transaction that creates the case, because it counts the entries. */
export async function insertCaseHistory(db: Db, entry: Omit<CaseHistoryRow, 'n'>): Promise<void> {
  const last = await db
    .selectFrom('case_history')
    .select((eb) => eb.fn.max('n').as('n'))
    .where('case_id', '=', entry.case_id)
    .executeTakeFirst()
  await db
    .insertInto('case_history')
    .values({ ...entry, n: (last?.n ?? 0) + 1 })
    .execute()
}

/** Oldest first. */
export async function listCaseHistory(db: Db, caseIds: readonly string[]): Promise<CaseHistoryRow[]> {
  if (caseIds.length === 0) return []
  return db
    .selectFrom('case_history')
    .selectAll()
    .where('case_id', 'in', caseIds)
    .orderBy('case_id')
    .orderBy('n')
    .execute()
}

/** Newest first. */
export async function listCaseTaskIds(
  db: Db,
  caseIds: readonly string[],
): Promise<{ id: string; case_id: string | null }[]> {
  if (caseIds.length === 0) return []
  return db
    .selectFrom('tasks')
    .select(['id', 'case_id'])
    .where('case_id', 'in', caseIds)
    .orderBy('id', 'desc')
    .execute()
}
