import type { Json } from '../../platform/base/json.ts'
import { badRequest, notFound } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import { type Page, type PageQuery, toPage } from '../../platform/http/page.ts'
import type { RecordRow } from '../../platform/store/tables.ts'
import { CollectionName, parseWhereQuery, RecordKeyName, type RecordView, toRecordView } from './view.ts'
import { findRecordByKey, listRecords } from './rows.ts'
import { putRecord, removeRecord } from './put-record.ts'

/** What the agent of a task can use: the records of its wedge in its project. */
export interface AgentRecordScope {
  projectId: string
  wedge: string
  /** The task, for the audit log. */
  actor: Actor
}

export const agentRecords = { get, put, list, delete: remove }

async function get(ctx: Ctx, scope: AgentRecordScope, collection: string, key: string): Promise<RecordView> {
  return toRecordView(await requireRecord(ctx, scope, collection, key))
}

async function put(
  ctx: Ctx,
  scope: AgentRecordScope,
  collection: string,
  key: string,
  { value, version }: { value: Json; version?: number | undefined },
): Promise<{ record: RecordView; isNew: boolean }> {
  checkNames(collection, key)
  const entry = { wedge: scope.wedge, collection, key, value, version }
  const { record, isNew } = await putRecord(ctx, scope.projectId, entry, scope.actor)
  return { record: toRecordView(record), isNew }
}

async function list(
  ctx: Ctx,
  scope: AgentRecordScope,
  collection: string,
  query: PageQuery & { where?: string | undefined },
): Promise<Page<RecordView>> {
  checkNames(collection, 'any')
  const { limit, cursor } = query
  const filter = { wedge: scope.wedge, collection, where: parseWhereQuery(query.where), limit, cursor }
  const rows = await listRecords(ctx.db, [scope.projectId], filter)
  return toPage(rows, limit, (row) => row.id, toRecordView)
}

async function remove(ctx: Ctx, scope: AgentRecordScope, collection: string, key: string): Promise<void> {
  const record = await requireRecord(ctx, scope, collection, key)
  if (!(await removeRecord(ctx, record, scope.actor))) throw notFound('record')
}

async function requireRecord(ctx: Ctx, scope: AgentRecordScope, collection: string, key: string): Promise<RecordRow> {
  checkNames(collection, key)
  const record = await findRecordByKey(ctx.db, { project_id: scope.projectId, wedge: scope.wedge, collection, key })
  if (!record) throw notFound('record')
  return record
}

/** The names come from the path of a URL, which no schema has validated. */
function checkNames(collection: string, key: string): void {
  if (!CollectionName.safeParse(collection).success)
    throw badRequest('collection name must have 1 to 100 characters and no control characters')
  if (!RecordKeyName.safeParse(key).success)
    throw badRequest('record key must have 1 to 255 characters and no control characters')
}
