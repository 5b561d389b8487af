import { type Expression, sql, type SqlBool } from 'kysely'
import type { PageQuery } from '../../platform/http/page.ts'
import { isInProjects, listNewestOfProjects, listNewestPage, matchColumns } from '../../platform/store/newest-page.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { FileChunkRow, FileRow } from '../../platform/store/tables.ts'

/** The first bytes arrive with the row, so `size` is never 0 for lack of a write. */
export const insertFile = prepareQuery<FileRow>((db, arg) =>
  db
    .insertInto('files')
    .values({
      id: arg('id'),
      project_id: arg('project_id'),
      client_id: arg('client_id'),
      name: arg('name'),
      content_type: arg('content_type'),
      size: arg('size'),
      sha256: arg('sha256'),
      state: arg('state'),
      storage: arg('storage'),
      upload_id: arg('upload_id'),
      created_by: arg('created_by'),
      created_at: arg('created_at'),
    })
    .$castTo<never>(),
)

/** No row if the upload was given up meanwhile. */
export const addFileSize = prepareQuery<{ id: string; bytes: number }, { id: string }>((db, arg) =>
  db
    .updateTable('files')
    .set((eb) => ({ size: eb('size', '+', arg('bytes')) }))
    .where('id', '=', arg('id'))
    .where('state', '=', 'uploading')
    .returning('id'),
)

/** No row if the upload was given up meanwhile. */
export const updateFileStored = prepareQuery<{ id: string; sha256: string }, FileRow>((db, arg) =>
  db
    .updateTable('files')
    .set({ state: 'stored', sha256: arg('sha256'), upload_id: null })
    .where('id', '=', arg('id'))
    .where('state', '=', 'uploading')
    .returningAll(),
)

export const updateFileUploadId = prepareQuery<{ id: string; upload_id: string }>((db, arg) =>
  db
    .updateTable('files')
    .set({ upload_id: arg('upload_id') })
    .where('id', '=', arg('id'))
    .$castTo<never>(),
)

const storedFileById = prepareQuery<{ id: string }, FileRow>((db, arg) =>
  db.selectFrom('files').selectAll().where('id', '=', arg('id')).where('state', '=', 'stored'),
)

export async function findFile(db: Db, projectIds: readonly string[], id: string): Promise<FileRow | undefined> {
  const [file] = await storedFileById(db, { id })
  return file && projectIds.includes(file.project_id) ? file : undefined
}

/** Gives a file of the team to a client. No row if another client was first. */
export const updateFileClient = prepareQuery<{ id: string; client_id: string }, { id: string }>((db, arg) =>
  db
    .updateTable('files')
    .set({ client_id: arg('client_id') })
    .where('id', '=', arg('id'))
    .where((row) => row.or([row('client_id', 'is', null), row('client_id', '=', arg('client_id'))]))
    .returning('id'),
)

/** What the files of a client take, those that are being uploaded included. */
export async function sumClientFileBytes(db: Db, clientId: string): Promise<number> {
  const query = db
    .selectFrom('files')
    .select((row) => row.fn.sum('size').as('bytes'))
    .where('client_id', '=', clientId)
    .where('state', '<>', 'deleted')
  return Number((await query.executeTakeFirst())?.bytes ?? 0)
}

interface FileFilter extends PageQuery {
  client_id?: string | undefined
}

/** Newest first, one more than a page. */
export function listFiles(db: Db, projectIds: readonly string[], filter: FileFilter): Promise<FileRow[]> {
  const { client_id } = filter
  const files = db.selectFrom('files').selectAll()
  const stored = matchColumns({ state: 'stored' })
  if (client_id !== undefined)
    return listNewestPage(files.where('client_id', '=', client_id), filter, [isInProjects(projectIds), ...stored])
  return listNewestOfProjects({
    projectIds,
    page: filter,
    rows: { query: files, filters: stored },
    searchIn: (projectId) => ({ query: files.where('project_id', '=', projectId), filters: stored }),
  })
}

/** The files of a task that still exist, in their order. */
const listFilesOfTask = prepareQuery<{ task_id: string }, FileRow>((db, arg) =>
  db
    .selectFrom('task_files')
    .innerJoin('files', 'files.id', 'task_files.file_id')
    .selectAll('files')
    .where('task_files.task_id', '=', arg('task_id'))
    .where('files.state', '=', 'stored')
    .orderBy('task_files.n'),
)

export const listTaskFiles = (db: Db, taskId: string): Promise<FileRow[]> => listFilesOfTask(db, { task_id: taskId })

/** The files of a thread's messages, those of the newest message first. */
export const listThreadFiles = prepareQuery<{ thread_id: string; limit: number }, FileRow>((db, arg) =>
  db
    .selectFrom('messages')
    .innerJoin('message_files', 'message_files.message_id', 'messages.id')
    .innerJoin('files', 'files.id', 'message_files.file_id')
    .selectAll('files')
    .where('messages.thread_id', '=', arg('thread_id'))
    .where('files.state', '=', 'stored')
    .orderBy('messages.n', 'desc')
    .orderBy('message_files.n')
    .limit(arg('limit')),
)

/** The files of several tasks. */
export async function listFilesOfTasks(db: Db, taskIds: readonly string[]): Promise<(FileRow & { task_id: string })[]> {
  if (taskIds.length === 0) return []
  return db
    .selectFrom('task_files')
    .innerJoin('files', 'files.id', 'task_files.file_id')
    .selectAll('files')
    .select('task_files.task_id')
    .where('task_files.task_id', 'in', taskIds)
    .where('files.state', '=', 'stored')
    .orderBy('task_files.task_id')
    .orderBy('task_files.n')
    .execute()
}

/** The files of messages that still exist, in the order of each message. */
export async function listMessageFiles(
  db: Db,
  messageIds: readonly string[],
): Promise<(FileRow & { message_id: string })[]> {
  if (messageIds.length === 0) return []
  return db
    .selectFrom('message_files')
    .innerJoin('files', 'files.id', 'message_files.file_id')
    .selectAll('files')
    .select('message_files.message_id')
    .where('message_files.message_id', 'in', messageIds)
    .where('files.state', '=', 'stored')
    .orderBy('message_files.message_id')
    .orderBy('message_files.n')
    .execute()
}

export async function insertTaskFiles(db: Db, taskId: string, fileIds: readonly string[]): Promise<void> {
  if (fileIds.length === 0) return
  const rows = fileIds.map((file_id, n) => ({ task_id: taskId, n, file_id }))
  await db.insertInto('task_files').values(rows).execute()
}

/** Adds files to a task that may have some already. Call it after the task is locked. */
export async function appendTaskFiles(db: Db, taskId: string, fileIds: readonly string[]): Promise<void> {
  if (fileIds.length === 0) return
  const query = db
    .selectFrom('task_files')
    .select((eb) => eb.fn.max('n').as('last'))
    .where('task_id', '=', taskId)
  const { last } = (await query.$castTo<{ last: number | null }>().executeTakeFirst()) ?? { last: null }
  const first = (last ?? -1) + 1
  const rows = fileIds.map((file_id, index) => ({ task_id: taskId, n: first + index, file_id }))
  await db.insertInto('task_files').values(rows).execute()
}

export async function insertMessageFiles(db: Db, messageId: string, fileIds: readonly string[]): Promise<void> {
  if (fileIds.length === 0) return
  const rows = fileIds.map((file_id, n) => ({ message_id: messageId, n, file_id }))
  await db.insertInto('message_files').values(rows).execute()
}

export const insertFileChunk = prepareQuery<FileChunkRow>((db, arg) =>
  db
    .insertInto('file_chunks')
    .values({ file_id: arg('file_id'), n: arg('n'), content: arg('content') })
    .$castTo<never>(),
)

export const findFileChunk = prepareQuery<{ file_id: string; n: number }, Pick<FileChunkRow, 'content'>>((db, arg) =>
  db.selectFrom('file_chunks').select('content').where('file_id', '=', arg('file_id')).where('n', '=', arg('n')),
)

export const deleteFileChunks = prepareQuery<{ file_id: string }>((db, arg) =>
  db.deleteFrom('file_chunks').where('file_id', '=', arg('file_id')).$castTo<never>(),
)

/** Hides a file until its bytes are removed. Returns no row if another call was first. */
export const updateFileDeleted = prepareQuery<{ id: string }, FileRow>((db, arg) =>
  db
    .updateTable('files')
    .set({ state: 'deleted' })
    .where('id', '=', arg('id'))
    .where('state', '<>', 'deleted')
    .returningAll(),
)

/** The bytes of the upload belong to something else from now on. */
export const deleteUploadRow = prepareQuery<{ id: string }>((db, arg) =>
  db.deleteFrom('files').where('id', '=', arg('id')).where('state', '=', 'uploading').$castTo<never>(),
)

/** Returns no row if another replica was first. */
export const deleteFileRow = prepareQuery<{ id: string }, Pick<FileRow, 'project_id' | 'size'>>((db, arg) =>
  db.deleteFrom('files').where('id', '=', arg('id')).where('state', '=', 'deleted').returning(['project_id', 'size']),
)

/** Removes what says that a task or a message uses the file. */
export async function deleteFileUses(db: Db, fileId: string): Promise<void> {
  await db.deleteFrom('task_files').where('file_id', '=', fileId).execute()
  await db.deleteFrom('message_files').where('file_id', '=', fileId).execute()
}

/**
 * Whether nothing needs a file any more: no message and no brand has it, and the logs of all tasks that used it are removed. Whatever
 * else refers to files must be added here. With `exists`, PostgreSQL would read the whole tables for each page of files.
 */
export const isUnused: Expression<SqlBool> = sql<SqlBool>`(
  (select 1 from message_files where message_files.file_id = files.id limit 1) is null
  and (select 1 from brands where brands.logo_file_id = files.id or brands.favicon_file_id = files.id limit 1) is null
  and (
    select 1 from task_files inner join tasks on tasks.id = task_files.task_id
    where task_files.file_id = files.id and tasks.log_pruned_at is null limit 1) is null)`

/** No row if something uses the file again. */
export const updateUnusedFileDeleted = prepareQuery<{ id: string }, FileRow>((db, arg) =>
  db
    .updateTable('files')
    .set({ state: 'deleted' })
    .where('id', '=', arg('id'))
    .where('state', '=', 'stored')
    .where(isUnused)
    .returningAll(),
)
