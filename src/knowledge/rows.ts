import { sql } from 'kysely'
import type { JsonObject } from '../base/json.ts'
import type { PageQuery } from '../http/page.ts'
import { newestPage } from '../store/newest-page.ts'
import { glance, prepared } from '../store/prepared.ts'
import { remembered } from '../store/remembered.ts'
import type { Db } from '../store/store.ts'
import type { Knowledge, KnowledgeRevisions } from '../store/tables.ts'

export const KINDS = ['note', 'fact', 'correction', 'feedback', 'answer', 'seed'] as const
export type Kind = (typeof KINDS)[number]

/** A live knowledge item as the API shows it. */
export type Item = Omit<Knowledge, 'metadata'> & { metadata: JsonObject }

export async function insertItem(db: Db, item: Item): Promise<void> {
  await db
    .insertInto('knowledge')
    .values({ ...item, metadata: JSON.stringify(item.metadata) })
    .execute()
}

export async function findItem(db: Db, projectIds: readonly string[], id: string): Promise<Item | undefined> {
  if (projectIds.length === 0) return undefined
  const row = await db
    .selectFrom('knowledge')
    .selectAll()
    .where('id', '=', id)
    .where('project_id', 'in', projectIds)
    .executeTakeFirst()
  return row && shown(row)
}

/** The newest item of that name: blueprints seed a name only once. */
export async function findItemNamed(db: Db, projectId: string, wedge: string, name: string): Promise<Item | undefined> {
  const row = await db
    .selectFrom('knowledge')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('wedge', '=', wedge)
    .where('name', '=', name)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && shown(row)
}

export interface ItemFilter extends PageQuery {
  wedge: string
  kind?: Kind | undefined
}

export async function listItems(db: Db, projectIds: readonly string[], filter: ItemFilter): Promise<Item[]> {
  if (projectIds.length === 0) return []
  let query = db
    .selectFrom('knowledge')
    .selectAll()
    .where('project_id', 'in', projectIds)
    .where('wedge', '=', filter.wedge)
  if (filter.kind) query = query.where('kind', '=', filter.kind)
  return (await newestPage(query, filter)).map(shown)
}

export type ItemChange = Partial<Pick<Item, 'name' | 'content' | 'kind' | 'source' | 'metadata'>>

/** The item after the change, with the next version; nothing when it is gone. */
export async function updateItem(
  db: Db,
  where: Pick<Item, 'id' | 'project_id'>,
  { metadata, ...change }: ItemChange,
  now: string,
): Promise<Item | undefined> {
  const row = await db
    .updateTable('knowledge')
    .set({ ...change, ...(metadata && { metadata: JSON.stringify(metadata) }), updated_at: now })
    .set('version', sql`version + 1`)
    .where('id', '=', where.id)
    .where('project_id', '=', where.project_id)
    .returningAll()
    .executeTakeFirst()
  return row && shown(row)
}

/** With its revisions: what is deleted must not live on where nobody sees it. */
export async function deleteItem(db: Db, { id, project_id }: Pick<Item, 'id' | 'project_id'>): Promise<boolean> {
  const gone = await db
    .deleteFrom('knowledge')
    .where('id', '=', id)
    .where('project_id', '=', project_id)
    .returning('id')
    .executeTakeFirst()
  await db
    .deleteFrom('knowledge_revisions')
    .where('knowledge_id', '=', id)
    .where('project_id', '=', project_id)
    .execute()
  return gone !== undefined
}

export async function insertRevision(db: Db, revision: KnowledgeRevisions): Promise<void> {
  await db.insertInto('knowledge_revisions').values(revision).execute()
}

/** Newest first, one more than the limit; `before` is a version. */
export function listRevisions(db: Db, item: Item, limit: number, before: number | null): Promise<KnowledgeRevisions[]> {
  const rows = db
    .selectFrom('knowledge_revisions')
    .selectAll()
    .where('knowledge_id', '=', item.id)
    .where('project_id', '=', item.project_id)
    .orderBy('version', 'desc')
    .limit(limit + 1)
  return (before === null ? rows : rows.where('version', '<', before)).execute()
}

export interface GroundingRow {
  name: string
  content: string
  kind: string
  updated_at: string
  length: number
}

/** Whether the project has taught the wedge anything. Every run asks. */
export const taughtTo = remembered(
  ['knowledge'],
  glance<{ projectId: string; wedge: string }, { taught: number }>((db, arg) =>
    db.selectNoFrom((eb) => {
      const any = eb.selectFrom('knowledge').select('id').where('project_id', '=', arg('projectId'))
      return eb
        .case()
        .when(eb.exists(any.where('wedge', '=', arg('wedge'))))
        .then(1)
        .else(0)
        .end()
        .as('taught')
    }),
  ),
)

/**
 * The newest items that a run of this client, or of none, may know, each cut to `cut` characters. Corrections and
 * feedback tell of what a task was about: those of one client's tasks are never shown to another's.
 */
export const groundingItems = prepared<
  { projectId: string; wedge: string; clientId: string; items: number; cut: number },
  GroundingRow
>((db, arg) =>
  db
    .selectFrom('knowledge as k')
    .leftJoin('tasks as t', 't.id', 'k.task_id')
    .select(['k.name', 'k.kind', 'k.updated_at'])
    .select(sql<string>`substr(k.content, 1, ${arg('cut')})`.as('content'))
    .select(sql<number>`length(k.content)`.as('length'))
    .where('k.project_id', '=', arg('projectId'))
    .where('k.wedge', '=', arg('wedge'))
    .where((is) =>
      is.or([
        is('k.kind', 'not in', ['correction', 'feedback']),
        is('t.client_id', 'is', null),
        is('t.client_id', '=', arg('clientId')),
      ]),
    )
    .orderBy('k.updated_at', 'desc')
    .orderBy('k.id', 'desc')
    .limit(arg('items')),
)

function shown({ metadata, ...row }: Knowledge): Item {
  return { ...row, metadata: JSON.parse(metadata) }
}
