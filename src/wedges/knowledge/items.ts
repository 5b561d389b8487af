import type { JsonObject } from '../../platform/base/json.ts'
import { notFound } from '../../platform/base/problem.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { updateQuestionsToOpen } from './intake-rows.ts'
import {
  deleteKnowledgeItem,
  insertKnowledgeItem,
  insertKnowledgeRevision,
  type KnowledgeItem,
  type KnowledgeItemChange,
  type KnowledgeKind,
  updateKnowledgeItem,
} from './rows.ts'

export interface NewKnowledgeItem {
  projectId: string
  wedge: string
  name: string
  content: string
  kind: KnowledgeKind
  source?: string | null | undefined
  metadata?: JsonObject | undefined
  taskId?: string | null
}

/** Writes the item and its first revision; the caller adds the audit entry. */
export async function createKnowledgeItem(tx: Tx, by: Actor, item: NewKnowledgeItem): Promise<KnowledgeItem> {
  const now = isoNow(tx)
  const created: KnowledgeItem = {
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
  await insertKnowledgeItem(tx.db, created)
  await addRevision(tx, by, created)
  return created
}

/** The last writer wins; earlier versions stay readable as revisions. */
export async function changeKnowledgeItem(
  tx: Tx,
  by: Actor,
  item: Pick<KnowledgeItem, 'id' | 'project_id'>,
  change: KnowledgeItemChange,
): Promise<KnowledgeItem> {
  const changed = await updateKnowledgeItem(tx.db, item, change, isoNow(tx))
  if (!changed) throw notFound('knowledge item')
  await addRevision(tx, by, changed)
  return changed
}

/** Reopens the question that the item answered. Locks questions before items, like answering, to avoid a deadlock. */
export async function removeKnowledgeItem(tx: Tx, item: Pick<KnowledgeItem, 'id' | 'project_id'>): Promise<void> {
  await updateQuestionsToOpen(tx.db, item.project_id, item.id, isoNow(tx))
  if (!(await deleteKnowledgeItem(tx.db, item))) throw notFound('knowledge item')
}

async function addRevision(tx: Tx, by: Actor, item: KnowledgeItem): Promise<void> {
  await insertKnowledgeRevision(tx.db, {
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
