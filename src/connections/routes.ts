import { z } from 'zod'
import { badRequest } from '../base/problem.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { jsonObject } from '../http/judge.ts'
import { filter, page, pageById, pageOf } from '../http/page.ts'
import { created, noContent, read, write, nameRoutes } from '../http/route.ts'
import { createConnection, removeConnection, updateConnection } from './connections.ts'
import { KINDS } from './executors/table.ts'
import { connectionInScope } from './find.ts'
import { ConnectionRecord, show, showAll, warningsFor } from './record.ts'
import { type Connection, listConnections } from './rows.ts'
import { writeSecret } from './secrets.ts'
import { tryConnection } from './trial.ts'

const name = z.string().min(1).max(128)
const secretRef = z.string().max(256).nullable()
const Warned = ConnectionRecord.extend({ warnings: z.array(z.string()) })

export const connectionRoutes = nameRoutes({
  createConnection: write('POST', '/v1/connections', {
    summary: 'Register a connection',
    role: 'admin',
    body: z.object({
      kind: z.enum(KINDS),
      name,
      owner: z.object({ kind: z.enum(['founder', 'client']), id: z.string().optional() }).optional(),
      client_id: z.string().nullish(),
      config: jsonObject.optional(),
      secret_ref: secretRef.optional(),
    }),
    answers: { 201: Warned },
    async handle({ ctx, scope, body }) {
      const connection = await createConnection(ctx, scope, body)
      return created(`/v1/connections/${connection.id}`, await showWarned(ctx, connection))
    },
  }),

  listConnections: read('/v1/connections', {
    summary: 'List connections',
    query: z.object({ ...pageById('conn'), kind: z.enum(KINDS).optional(), client_id: filter }),
    answers: { 200: pageOf(ConnectionRecord) },
    async handle({ ctx, scope, query }) {
      const { kind, client_id: clientId, cursor, limit } = query
      const rows = await listConnections(ctx.db, { projectIds: scope.projectIds, kind, clientId, cursor, limit })
      const { data, next_cursor } = page(
        rows,
        limit,
        (row) => row.id,
        (row) => row,
      )
      return { data: await showAll(ctx, data), next_cursor }
    },
  }),

  getConnection: read('/v1/connections/:id', {
    summary: 'Read a connection',
    answers: { 200: ConnectionRecord },
    find: connectionInScope,
    handle: ({ ctx, subject }) => show(ctx, subject),
  }),

  updateConnection: write('PUT', '/v1/connections/:id', {
    summary: 'Change a connection',
    role: 'admin',
    body: z.object({
      kind: z.enum(KINDS).optional(),
      name: name.optional(),
      config: jsonObject.optional(),
      secret_ref: secretRef.optional(),
    }),
    answers: { 200: Warned },
    find: connectionInScope,
    async handle({ ctx, scope, subject, body }) {
      if (body.kind && body.kind !== subject.kind) throw badRequest("field 'kind' cannot be changed")
      return showWarned(ctx, await updateConnection(ctx, scope, subject, body))
    },
  }),

  deleteConnection: write('DELETE', '/v1/connections/:id', {
    summary: 'Delete a connection and its secret',
    role: 'admin',
    answers: { 204: z.null() },
    find: connectionInScope,
    async handle({ ctx, scope, subject }) {
      await removeConnection(ctx, scope, subject)
      return noContent()
    },
  }),

  setConnectionSecret: write('POST', '/v1/connections/:id/secret', {
    summary: "Write a connection's secret; nothing reads it back",
    role: 'admin',
    body: z.object({ value: z.string().min(1).max(65_536) }),
    answers: { 200: ConnectionRecord },
    find: connectionInScope,
    async handle({ ctx, scope, subject, body }) {
      await writeSecret(ctx, scope, subject, body.value)
      return show(ctx, subject)
    },
  }),

  testConnection: write('POST', '/v1/connections/:id/test', {
    summary: 'Try a connection by one harmless call',
    role: 'admin',
    answers: {
      200: z.object({
        ok: z.boolean(),
        checked: z.string(),
        status: z.number().nullable(),
        error: z.string().nullable(),
      }),
    },
    find: connectionInScope,
    handle: ({ ctx, scope, subject }) => tryConnection(ctx, scope, subject),
  }),
})

const showWarned = async (ctx: Ctx, connection: Connection) => ({
  ...(await show(ctx, connection)),
  warnings: warningsFor(ctx, connection),
})
