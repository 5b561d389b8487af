import { z } from 'zod'
import { notFound } from '../base/problem.ts'
import { json } from '../http/judge.ts'
import { filter, page, pageById, pageOf } from '../http/page.ts'
import { created, inScope, noContent, read, write, nameRoutes } from '../http/route.ts'
import { requireWedge } from '../wedges/enabled.ts'
import { CollectionName, conditionsOf, KeyName, RecordRecord, showRecord } from './record.ts'
import { findRecord, listRecords } from './rows.ts'
import { putRecord, removeRecord } from './upsert.ts'

const recordInScope = inScope('record', findRecord)

export const recordRoutes = nameRoutes({
  listRecords: read('/v1/records', {
    summary: 'List records, newest first, by wedge, collection, key and fields of their values',
    query: z.object({
      wedge: filter,
      collection: CollectionName.optional(),
      key: KeyName.optional(),
      where: filter.meta({ description: 'such as {"status":"open","total.usd":{"$gte":5}}' }),
      ...pageById('rec'),
    }),
    answers: { 200: pageOf(RecordRecord) },
    async handle({ ctx, scope, query }) {
      const filter = { ...query, where: conditionsOf(query.where) }
      const rows = await listRecords(ctx.db, scope.projectIds, filter)
      return page(rows, query.limit, (row) => row.id, showRecord)
    },
  }),

  saveRecord: write('POST', '/v1/records', {
    summary: 'Write the record of (wedge, collection, key), new or in place of the one that is there',
    body: z.object({
      wedge: z.string(),
      collection: CollectionName,
      key: KeyName,
      value: json,
      version: z.int().min(0).optional().meta({ description: 'the version to replace, 0 for none; 409 if it differs' }),
    }),
    answers: { 200: RecordRecord, 201: RecordRecord },
    async handle({ ctx, scope, body }) {
      const wedge = await requireWedge(ctx, scope, body.wedge)
      const { record, isNew } = await putRecord(ctx, scope.projectId, { ...body, wedge: wedge.slug }, scope.actor)
      return isNew ? created(`/v1/records/${record.id}`, showRecord(record)) : showRecord(record)
    },
  }),

  getRecord: read('/v1/records/:id', {
    summary: 'Read a record',
    answers: { 200: RecordRecord },
    find: recordInScope,
    handle: async ({ subject }) => showRecord(subject),
  }),

  deleteRecord: write('DELETE', '/v1/records/:id', {
    summary: 'Delete a record',
    answers: { 204: z.null() },
    find: recordInScope,
    async handle({ ctx, scope, subject }) {
      if (!(await removeRecord(ctx, subject, scope.actor))) throw notFound('record')
      return noContent()
    },
  }),
})
