import { sql } from 'kysely'
import type { PageQuery } from '../../platform/http/page.ts'
import { isInList, type ListArgument, toListArgument } from '../../platform/store/list-argument.ts'
import { isInProjects, listNewestOfProjects, listNewestPage, matchColumns } from '../../platform/store/newest-page.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { CaseHistoryRow, CaseRow, FileRow, TaskRow } from '../../platform/store/tables.ts'

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
  thread_id?: string | undefined
  assignee_id?: string | undefined
}

export function listCases(db: Db, projectIds: readonly string[], filter: CaseFilter): Promise<CaseRow[]> {
  const { wedge, status, stage, client_id, thread_id, assignee_id } = filter
  const cases = db.selectFrom('cases').selectAll()
  const filters = matchColumns({ wedge, status, stage, assignee_id })
  if (thread_id === undefined && client_id === undefined)
    return listNewestOfProjects({
      projectIds,
      page: filter,
      rows: { query: cases, filters },
      searchIn: (projectId) => ({ query: cases.where('project_id', '=', projectId), filters }),
    })
  const owned =
    thread_id === undefined ? cases.where('client_id', '=', client_id ?? '') : cases.where('thread_id', '=', thread_id)
  const ofClient = matchColumns({ client_id: thread_id === undefined ? undefined : client_id })
  return listNewestPage(owned, filter, [isInProjects(projectIds), ...filters, ...ofClient])
}

/** The client of a thread of the project, for a case about that thread. */
export async function findThreadClient(db: Db, projectId: string, threadId: string): Promise<string | undefined> {
  const threads = db.selectFrom('threads').select('client_id').where('project_id', '=', projectId)
  return (await threads.where('id', '=', threadId).executeTakeFirst())?.client_id
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

export type CaseState = Omit<CaseRow, 'id' | 'project_id' | 'wedge' | 'created_at'>

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

/** A case is shown with its newest changes and tasks, because agents can add any number of them. */
export const MAX_SHOWN_PER_CASE = 200

/** The newest changes of each case, oldest first. */
export const listCaseHistory = (db: Db, caseIds: readonly string[]): Promise<CaseHistoryRow[]> =>
  newestHistory(db, { case_ids: toListArgument(db, caseIds) })

const newestHistory = prepareQuery<{ case_ids: ListArgument }, CaseHistoryRow>((db, arg) => {
  const changes = db.selectFrom('case_history').selectAll().select(placeInCase('n').as('place'))
  const ofCases = changes.where(isInList(db, 'case_id', arg('case_ids'))).as('changes')
  return db.selectFrom(ofCases).selectAll().where('place', '<=', MAX_SHOWN_PER_CASE).orderBy('n')
})

type CaseTaskId = Pick<TaskRow, 'id' | 'case_id'>

/** The newest tasks of each case, newest first. */
export const listCaseTaskIds = (db: Db, caseIds: readonly string[]): Promise<CaseTaskId[]> =>
  newestTaskIds(db, { case_ids: toListArgument(db, caseIds) })

const newestTaskIds = prepareQuery<{ case_ids: ListArgument }, CaseTaskId>((db, arg) => {
  const tasks = db.selectFrom('tasks').select(['id', 'case_id', placeInCase('id').as('place')])
  const ofCases = tasks.where(isInList(db, 'case_id', arg('case_ids'))).as('newest')
  return db.selectFrom(ofCases).select(['id', 'case_id']).where('place', '<=', MAX_SHOWN_PER_CASE).orderBy('id', 'desc')
})

const placeInCase = (column: string) =>
  sql<number>`row_number() over (partition by case_id order by ${sql.ref(column)} desc)`

/** The newest files of a case's tasks and of its conversation, newest first. */
export function listCaseFiles(db: Db, { id, thread_id }: Pick<CaseRow, 'id' | 'thread_id'>): Promise<FileRow[]> {
  const ofTasks = db
    .selectFrom('task_files')
    .innerJoin('tasks', 'tasks.id', 'task_files.task_id')
    .select('task_files.file_id')
    .where('tasks.case_id', '=', id)
  const ofMessages = db
    .selectFrom('message_files')
    .innerJoin('messages', 'messages.id', 'message_files.message_id')
    .select('message_files.file_id')
    .where('messages.thread_id', '=', thread_id ?? '')
  return db
    .selectFrom('files')
    .selectAll()
    .where('id', 'in', ofTasks.union(ofMessages))
    .where('state', '=', 'stored')
    .orderBy('id', 'desc')
    .limit(MAX_SHOWN_PER_CASE)
    .execute()
}
