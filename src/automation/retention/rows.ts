import { sql } from 'kysely'
import type { OpenEffect } from '../../approvals/effects/effect-rows.ts'
import type { Db } from '../../platform/store/store.ts'
import type { FileRow, TaskRow } from '../../platform/store/tables.ts'

/** The next tasks of a client that have not been erased yet, oldest first. */
export function listTasksToErase(
  db: Db,
  clientId: string,
  after: string,
  limit: number,
): Promise<Pick<TaskRow, 'id' | 'status'>[]> {
  return db
    .selectFrom('tasks')
    .select(['id', 'status'])
    .where('client_id', '=', clientId)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Closes every way in and out: handles, links, sessions, unsubscribe links and schedules. */
export async function deleteClientAccess(db: Db, clientId: string): Promise<void> {
  for (const table of [
    'client_handles',
    'portal_links',
    'client_sessions',
    'notice_tokens',
    'notice_opt_outs',
  ] as const)
    await db.deleteFrom(table).where('client_id', '=', clientId).execute()
  const schedules = db.selectFrom('schedules').select('id').where('client_id', '=', clientId)
  await db.deleteFrom('schedule_slots').where('schedule_id', 'in', schedules).execute()
  await db.deleteFrom('schedules').where('client_id', '=', clientId).execute()
}

/** Deletes the log of a task except its end, and returns how many bytes were stored. */
export async function deleteTaskLog(db: Db, taskId: string): Promise<number> {
  const removed = await db
    .deleteFrom('events')
    .where('task_id', '=', taskId)
    .where('type', '!=', 'task.finished')
    .returning(sql<number>`octet_length(data)`.as('bytes'))
    .execute()
  await db.deleteFrom('transcripts').where('task_id', '=', taskId).execute()
  await db.deleteFrom('run_states').where('task_id', '=', taskId).execute()
  return removed.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** Deletes the artifacts of a task, and what says which files it used. */
export async function deleteTaskArtifacts(db: Db, taskId: string): Promise<void> {
  const artifacts = db.selectFrom('artifacts').select('id').where('task_id', '=', taskId)
  await db.deleteFrom('artifact_files').where('artifact_id', 'in', artifacts).execute()
  await db.deleteFrom('artifacts').where('task_id', '=', taskId).execute()
  await db.deleteFrom('task_files').where('task_id', '=', taskId).execute()
}

/** The next files of a client, including those that are being uploaded. */
export function listClientFiles(db: Db, clientId: string, limit: number): Promise<FileRow[]> {
  return db
    .selectFrom('files')
    .selectAll()
    .where('client_id', '=', clientId)
    .where('state', '<>', 'deleted')
    .limit(limit)
    .execute()
}

/** Empties what was asked, decided and sent. The hashes stay, so that the audit log can still be compared with them. */
export async function emptyApprovals(db: Db, taskId: string): Promise<void> {
  await db
    .updateTable('approvals')
    .set({ payload: '{}', edited: null, reason: null, note: null, tool: null })
    .where('task_id', '=', taskId)
    .execute()
  const approvals = db.selectFrom('approvals').select('id').where('task_id', '=', taskId)
  await db.deleteFrom('approval_comments').where('approval_id', 'in', approvals).execute()
  await db.updateTable('effects').set({ result: null, error: null }).where('task_id', '=', taskId).execute()
}

/** Closes the actions of a task that are in progress, so that a later answer, which may be about the client, is not stored. */
export function closeOpenEffects(db: Db, taskId: string, finished_at: string): Promise<OpenEffect[]> {
  return db
    .updateTable('effects')
    .set({ outcome: 'unknown', finished_at })
    .where('task_id', '=', taskId)
    .where('outcome', '=', 'sent')
    .returning(['id', 'project_id', 'task_id', 'message_id', 'action'])
    .execute()
}

/** Deletes what was learned from a task, and the questions that it raised. */
export async function deleteTaskKnowledge(db: Db, taskId: string): Promise<number> {
  const items = db.selectFrom('knowledge').select('id').where('task_id', '=', taskId)
  await db.deleteFrom('intake_questions').where('task_id', '=', taskId).execute()
  await db.deleteFrom('knowledge_revisions').where('knowledge_id', 'in', items).execute()
  const { numDeletedRows } = await db.deleteFrom('knowledge').where('task_id', '=', taskId).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** The task keeps its ids, times, status and cost, which reports and bills need, and the end of its log. */
export async function emptyTask(db: Db, taskId: string, erasedAt: string): Promise<void> {
  const { error } = await db.selectFrom('tasks').select('error').where('id', '=', taskId).executeTakeFirstOrThrow()
  const emptied = { input: 'null', output: null, output_schema: null, thread_id: null, log_pruned_at: erasedAt }
  await db
    .updateTable('tasks')
    .set({ ...emptied, error: error && JSON.stringify(withoutMessage(JSON.parse(error))) })
    .where('id', '=', taskId)
    .execute()
  const ends = db.selectFrom('events').select(['seq', 'data']).where('task_id', '=', taskId)
  for (const { seq, data } of await ends.execute()) {
    const end = JSON.parse(data)
    const kept = { ...end, ...(end.error && { error: withoutMessage(end.error) }) }
    await db
      .updateTable('events')
      .set({ data: JSON.stringify(kept) })
      .where('task_id', '=', taskId)
      .where('seq', '=', seq)
      .execute()
  }
}

/** The message of an error may quote the input. */
const withoutMessage = ({ reason }: { reason: string }) => ({ reason, message: 'erased' })

export async function deleteThreads(db: Db, clientId: string): Promise<{ threads: number; messages: number }> {
  const threads = db.selectFrom('threads').select('id').where('client_id', '=', clientId)
  const ids = db.selectFrom('messages').select('id').where('thread_id', 'in', threads)
  await db.deleteFrom('message_files').where('message_id', 'in', ids).execute()
  // The answers of members have effects without a task. What the provider said may be about the client.
  await db.updateTable('effects').set({ result: null, error: null }).where('id', 'in', ids).execute()
  const messages = await db.deleteFrom('messages').where('thread_id', 'in', threads).executeTakeFirstOrThrow()
  const removed = await db.deleteFrom('threads').where('client_id', '=', clientId).executeTakeFirstOrThrow()
  return { threads: Number(removed.numDeletedRows), messages: Number(messages.numDeletedRows) }
}

/** Cases keep their stages, which reports need. */
export async function emptyCases(db: Db, clientId: string): Promise<void> {
  const cases = db.selectFrom('cases').select('id').where('client_id', '=', clientId)
  await db.updateTable('case_history').set({ note: null }).where('case_id', 'in', cases).execute()
  await db
    .updateTable('cases')
    .set({ title: null, data: '{}', thread_id: null })
    .where('client_id', '=', clientId)
    .execute()
}

export function listConnectionIds(db: Db, clientId: string): Promise<{ id: string }[]> {
  return db
    .selectFrom('connections')
    .select('id')
    .where('owner_kind', '=', 'client')
    .where('owner_id', '=', clientId)
    .execute()
}

/** False if another request has already deleted the client. */
export async function deleteClient(db: Db, clientId: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('clients').where('id', '=', clientId).executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
