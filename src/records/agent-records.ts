import type { Json } from '../base/json.ts'
import { badRequest, notFound } from '../base/problem.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { type Page, type PageQuery, toPage } from '../http/page.ts'
import type { RecordRow } from '../store/tables.ts'
import { CollectionName, parseWhereQuery, RecordKeyName, type ShownRecord, toRecordView } from './view.ts'
import { findRecordByKey, listRecords } from './rows.ts'
import { putRecord, removeRecord } from './put-record.ts'

/** Where the agent of a task may go: the records of its wedge, in its project. */
export interface AgentRecordScope {
  projectId: string
  wedge: string
  /** The task, for the audit. */
  actor: Actor
}

export const agentRecords = { get, put, list, delete: remove }

async function get(ctx: Ctx, place: AgentRecordScope, collection: string, key: string): Promise<ShownRecord> {
  return toRecordView(await require(ctx, place, collection, key))
}

async function put(
  ctx: Ctx,
  place: AgentRecordScope,
  collection: string,
  key: string,
  { value, version }: { value: Json; version?: number | undefined },
): Promise<{ record: ShownRecord; isNew: boolean }> {
  checkNames(collection, key)
  const entry = { wedge: place.wedge, collection, key, value, version }
  const { record, isNew } = await putRecord(ctx, place.projectId, entry, place.actor)
  return { record: toRecordView(record), isNew }
}

async function list(
  ctx: Ctx,
  place: AgentRecordScope,
  collection: string,
  query: PageQuery & { where?: string | undefined },
): Promise<Page<ShownRecord>> {
  checkNames(collection, 'any')
  const { limit, cursor } = query
  const filter = { wedge: place.wedge, collection, where: parseWhereQuery(query.where), limit, cursor }
  const rows = await listRecords(ctx.db, [place.projectId], filter)
  return toPage(rows, limit, (row) => row.id, toRecordView)
}

async function remove(ctx: Ctx, place: AgentRecordScope, collection: string, key: string): Promise<void> {
  const record = await require(ctx, place, collection, key)
  if (!(await removeRecord(ctx, record, place.actor))) throw notFound('record')
}

async function require(ctx: Ctx, place: AgentRecordScope, collection: string, key: string): Promise<RecordRow> {
  checkNames(collection, key)
  const record = await findRecordByKey(ctx.db, { project_id: place.projectId, wedge: place.wedge, collection, key })
  if (!record) throw notFound('record')
  return record
}

/** The names come from a path here, so no schema has judged them. */
function checkNames(collection: string, key: string): void {
  if (!CollectionName.safeParse(collection).success) throw badRequest('collection name is not valid')
  if (!RecordKeyName.safeParse(key).success) throw badRequest('record key is not valid')
}
