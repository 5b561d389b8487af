import type { PageQuery } from '../../platform/http/page.ts'
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
export async function listCaseHistory(db: Db, caseIds: readonly string[]): Promise<CaseHistoryRow[]> {
  const rows = await readOfEach(caseIds, (case_id) => newestHistory(db, { case_id }))
  return rows.toSorted((a, b) => a.n - b.n)
}

const newestHistory = prepareQuery<{ case_id: string }, CaseHistoryRow>((db, arg) =>
  db
    .selectFrom('case_history')
    .selectAll()
    .where('case_id', '=', arg('case_id'))
    .orderBy('n', 'desc')
    .limit(MAX_SHOWN_PER_CASE),
)

type CaseTaskId = Pick<TaskRow, 'id' | 'case_id'>

/** The newest tasks of each case, newest first. */
export async function listCaseTaskIds(db: Db, caseIds: readonly string[]): Promise<CaseTaskId[]> {
  const rows = await readOfEach(caseIds, (case_id) => newestTaskIds(db, { case_id }))
  return rows.toSorted((a, b) => (a.id < b.id ? 1 : -1))
}

const newestTaskIds = prepareQuery<{ case_id: string }, CaseTaskId>((db, arg) =>
  db
    .selectFrom('tasks')
    .select(['id', 'case_id'])
    .where('case_id', '=', arg('case_id'))
    .orderBy('id', 'desc')
    .limit(MAX_SHOWN_PER_CASE),
)

/** Each case is one small read: a statement for all of them takes longer to plan than to run. */
async function readOfEach<Row>(caseIds: readonly string[], read: (caseId: string) => Promise<Row[]>): Promise<Row[]> {
  return (await Promise.all(caseIds.map(read))).flat()
}

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
