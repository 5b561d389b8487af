import type { JsonObject } from '../base/json.ts'
import { notFound } from '../base/problem.ts'
import type { Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { reopenQuestions } from './intake-rows.ts'
import { deleteItem, insertItem, insertRevision, type Item, type ItemChange, type Kind, updateItem } from './rows.ts'

export interface NewItem {
  projectId: string
  wedge: string
  name: string
  content: string
  kind: Kind
  source?: string | null | undefined
  metadata?: JsonObject | undefined
  taskId?: string | null
}

/** Writes the item and its first revision; the caller audits. */
export async function createItem(tx: Tx, by: Actor, item: NewItem): Promise<Item> {
  const now = isoNow(tx)
  const created: Item = {
    id: tx.world.newId('kn'),
    project_id: item.projectId,
    wedge: item.wedge,
    name: item.name,
    content: item.content,
    kind: item.kind,
    source: item.source ?? null,
    metadata: item.metadata ?? {},
    task_id: item.taskId ?? null,
    version: 1,
    created_at: now,
    updated_at: now,
  }
  await insertItem(tx.db, created)
  await keepRevision(tx, by, created)
  return created
}

/** Every version stays readable: the last writer wins, and nobody's words are lost. */
export async function changeItem(
  tx: Tx,
  by: Actor,
  item: Pick<Item, 'id' | 'project_id'>,
  change: ItemChange,
): Promise<Item> {
  const changed = await updateItem(tx.db, item, change, isoNow(tx))
  if (!changed) throw notFound('knowledge item')
  await keepRevision(tx, by, changed)
  return changed
}

/** A question whose answer is taken back is open again. Questions are locked before items, here as in answering. */
export async function removeItem(tx: Tx, item: Pick<Item, 'id' | 'project_id'>): Promise<void> {
  await reopenQuestions(tx.db, item.project_id, item.id, isoNow(tx))
  if (!(await deleteItem(tx.db, item))) throw notFound('knowledge item')
}

async function keepRevision(tx: Tx, by: Actor, item: Item): Promise<void> {
  await insertRevision(tx.db, {
    knowledge_id: item.id,
    project_id: item.project_id,
    version: item.version,
    name: item.name,
    content: item.content,
    kind: item.kind,
    by_kind: by.kind,
    by_id: by.id,
    at: item.updated_at,
  })
}
