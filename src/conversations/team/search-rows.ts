import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../platform/store/store.ts'

/**
 * Which of these threads contain a text: in the subject, in the names and handles of the client, or in the messages. Each
 * subquery has a limit, so that PostgreSQL looks up the rows of each thread instead of searching all messages.
 */
export async function listThreadsWithText(db: Db, threadIds: readonly string[], text: string): Promise<Set<string>> {
  const pattern = `%${text.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
  const matches = (column: string) => sql<SqlBool>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`
  const rows = await db
    .selectFrom('threads')
    .select('threads.id')
    .where('threads.id', 'in', threadIds)
    .where(sql<SqlBool>`(${matches('threads.subject')}
      or (select 1 from clients where clients.id = threads.client_id and ${matches('clients.display_name')} limit 1) = 1
      or (select 1 from client_handles where client_handles.client_id = threads.client_id
        and ${matches('client_handles.handle')} limit 1) = 1
      or (select 1 from messages where messages.thread_id = threads.id and ${matches('messages.body')} limit 1) = 1)`)
    .execute()
  return new Set(rows.map(({ id }) => id))
}
