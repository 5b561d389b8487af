import { sql } from 'kysely'
import type { JsonObject } from '../../platform/base/json.ts'
import type { PageQuery } from '../../platform/http/page.ts'
import { listNewestOfProjects, listNewestPage, matchColumns } from '../../platform/store/newest-page.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { KnowledgeRow, KnowledgeRevisionRow } from '../../platform/store/tables.ts'

export const KNOWLEDGE_KINDS = ['note', 'fact', 'correction', 'feedback', 'answer', 'seed'] as const
export type KnowledgeKind = (typeof KNOWLEDGE_KINDS)[number]

/** A live knowledge item with its metadata parsed. The API shows it unchanged. */
export type KnowledgeItem = Omit<KnowledgeRow, 'metadata'> & { metadata: JsonObject }

export async function insertKnowledgeItem(db: Db, item: KnowledgeItem): Promise<void> {
  await db
    .insertInto('knowledge')
    .values({ ...item, metadata: JSON.stringify(item.metadata) })
    .execute()
}

export async function findKnowledgeItem(
  db: Db,
  projectIds: readonly string[],
  id: string,
): Promise<KnowledgeItem | undefined> {
  if (projectIds.length === 0) return undefined
  const row = await db
    .selectFrom('knowledge')
    .selectAll()
    .where('id', '=', id)
    .where('project_id', 'in', projectIds)
    .executeTakeFirst()
  return row && toKnowledgeItem(row)
}

/** The newest item with this name. Blueprints use it to seed a name only once. */
export async function findKnowledgeItemByName(
  db: Db,
  projectId: string,
  wedge: string,
  name: string,
): Promise<KnowledgeItem | undefined> {
  const ofWedge = db.selectFrom('knowledge').selectAll().where('project_id', '=', projectId).where('wedge', '=', wedge)
  const [row] = await listNewestPage(ofWedge, { limit: 1 }, matchColumns({ name }))
  return row && toKnowledgeItem(row)
}

export interface KnowledgeFilter extends PageQuery {
  wedge: string
  kind?: KnowledgeKind | undefined
}

export async function listKnowledgeItems(
  db: Db,
  projectIds: readonly string[],
  filter: KnowledgeFilter,
): Promise<KnowledgeItem[]> {
  const items = db.selectFrom('knowledge').selectAll()
  const ofWedge = items.where('wedge', '=', filter.wedge)
  const filters = matchColumns({ kind: filter.kind })
  const rows = await listNewestOfProjects({
    projectIds,
    page: filter,
    // The wedge of an item never changes.
    rows: { query: items, filters },
    searchIn: (projectId) => ({ query: ofWedge.where('project_id', '=', projectId), filters }),
  })
  return rows.map(toKnowledgeItem)
}

export type KnowledgeItemChange = Partial<Pick<KnowledgeItem, 'name' | 'content' | 'kind' | 'source' | 'metadata'>>

/** The changed item with the next version; undefined when it was deleted. */
export async function updateKnowledgeItem(
  db: Db,
  where: Pick<KnowledgeItem, 'id' | 'project_id'>,
  { metadata, ...change }: KnowledgeItemChange,
  now: string,
): Promise<KnowledgeItem | undefined> {
  const row = await db
    .updateTable('knowledge')
    .set({ ...change, ...(metadata && { metadata: JSON.stringify(metadata) }), updated_at: now })
    .set('version', sql`version + 1`)
    .where('id', '=', where.id)
    .where('project_id', '=', where.project_id)
    .returningAll()
    .executeTakeFirst()
  return row && toKnowledgeItem(row)
}

/** Also deletes the revisions, because they contain the deleted text. */
export async function deleteKnowledgeItem(
  db: Db,
  { id, project_id }: Pick<KnowledgeItem, 'id' | 'project_id'>,
): Promise<boolean> {
  const deleted = await db
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
  return deleted !== undefined
}

export async function insertKnowledgeRevision(db: Db, revision: KnowledgeRevisionRow): Promise<void> {
  await db.insertInto('knowledge_revisions').values(revision).execute()
}

/** Newest first, with one row more than the limit; `before` is a version. */
export function listRevisions(
  db: Db,
  item: KnowledgeItem,
  limit: number,
  before: number | null,
): Promise<KnowledgeRevisionRow[]> {
  const rows = db
    .selectFrom('knowledge_revisions')
    .selectAll()
    .where('knowledge_id', '=', item.id)
    .where('project_id', '=', item.project_id)
    .orderBy('version', 'desc')
    .limit(limit + 1)
  return (before === null ? rows : rows.where('version', '<', before)).execute()
}

export interface GroundingItem {
  name: string
  content: string
  kind: string
  updated_at: string
  length: number
}

/** Whether the project has live knowledge for the wedge. */
export const findHasKnowledge = prepareQuery<{ projectId: string; wedge: string }, { has_knowledge: number }>(
  (db, arg) =>
    db.selectNoFrom((eb) => {
      const any = eb.selectFrom('knowledge').select('id').where('project_id', '=', arg('projectId'))
      return eb
        .case()
        .when(eb.exists(any.where('wedge', '=', arg('wedge'))))
        .then(1)
        .else(0)
        .end()
        .as('has_knowledge')
    }),
)

/**
 * The newest items that a run for this client (or for none) may use, each cut to `cut` characters. Corrections and
 * feedback can contain data of a task, so those of one client's tasks are never used for another client.
 */
export const listGroundingItems = prepareQuery<
  { projectId: string; wedge: string; clientId: string; items: number; cut: number },
  GroundingItem
>((db, arg) =>
  db
    .selectFrom('knowledge as k')
    .leftJoin('tasks as t', 't.id', 'k.task_id')
    .select(['k.name', 'k.kind', 'k.updated_at'])
    .select(sql<string>`substr(k.content, 1, ${arg('cut')})`.as('content'))
    .select(sql<number>`length(k.content)`.as('length'))
    .where('k.project_id', '=', arg('projectId'))
    .where('k.wedge', '=', arg('wedge'))
    .where((eb) =>
      eb.or([
        eb('k.kind', 'not in', ['correction', 'feedback']),
        eb('t.client_id', 'is', null),
        eb('t.client_id', '=', arg('clientId')),
      ]),
    )
    .orderBy('k.updated_at', 'desc')
    .orderBy('k.id', 'desc')
    .limit(arg('items')),
)

function toKnowledgeItem({ metadata, ...row }: KnowledgeRow): KnowledgeItem {
  return { ...row, metadata: JSON.parse(metadata) }
}
