import { z } from 'zod'
import { notFound } from '../../platform/base/problem.ts'
import { jsonValue } from '../../platform/http/validate.ts'
import { filterParam, toPage, pageQueryById, pageSchema } from '../../platform/http/page.ts'
import {
  createdResponse,
  findInScope,
  noContentResponse,
  defineRead,
  defineWrite,
  nameRoutes,
} from '../../platform/http/route.ts'
import { requireWedge } from '../../wedges/library/enabled-wedges.ts'
import { CollectionName, parseWhereQuery, RecordKeyName, RecordView, toRecordView } from './view.ts'
import { findRecord, listRecords } from './rows.ts'
import { putRecord, removeRecord } from './put-record.ts'

const recordInScope = findInScope('record', findRecord)

export const recordRoutes = nameRoutes({
  listRecords: defineRead('/v1/records', {
    summary: 'List records, newest first',
    description: 'Filter by wedge, collection, key and, with `where`, by fields of the value.',
    query: z.object({
      wedge: filterParam,
      collection: CollectionName.optional(),
      key: RecordKeyName.optional(),
      where: filterParam.meta({
        description: 'A JSON object of conditions, such as {"status":"open","total.usd":{"$gte":5}}.',
      }),
      ...pageQueryById('rec'),
    }),
    longRead: true,
    responses: { 200: pageSchema(RecordView) },
    async handle({ ctx, scope, query }) {
      const filter = { ...query, where: parseWhereQuery(query.where) }
      const rows = await listRecords(ctx.db, scope.projectIds, filter)
      return toPage(rows, query.limit, (row) => row.id, toRecordView)
    },
  }),

  saveRecord: defineWrite('POST', '/v1/records', {
    summary: 'Create or replace a record',
    description: 'A record is identified by wedge, collection and key.',
    body: z.object({
      wedge: z.string().min(1),
      collection: CollectionName,
      key: RecordKeyName,
      value: jsonValue,
      version: z
        .int()
        .min(0)
        .optional()
        .meta({ description: 'The version to replace, 0 if the record must be new. 409 if it differs.' }),
    }),
    responses: { 200: RecordView, 201: RecordView },
    async handle({ ctx, scope, body }) {
      const wedge = await requireWedge(ctx, scope, body.wedge)
      const { record, isNew } = await putRecord(ctx, scope.projectId, { ...body, wedge: wedge.slug }, scope.actor)
      return isNew ? createdResponse(`/v1/records/${record.id}`, toRecordView(record)) : toRecordView(record)
    },
  }),

  getRecord: defineRead('/v1/records/:id', {
    summary: 'Read a record',
    description: 'Finds it by id. To find it by wedge, collection and key, use the filters of `GET /v1/records`.',
    responses: { 200: RecordView },
    find: recordInScope,
    handle: async ({ subject }) => toRecordView(subject),
  }),

  deleteRecord: defineWrite('DELETE', '/v1/records/:id', {
    summary: 'Delete a record',
    description:
      'Agents and workflows of the wedge no longer find it. Earlier values are not kept, and this cannot be undone.',
    responses: { 204: z.null() },
    find: recordInScope,
    async handle({ ctx, scope, subject }) {
      if (!(await removeRecord(ctx, subject, scope.actor))) throw notFound('record')
      return noContentResponse()
    },
  }),
})
