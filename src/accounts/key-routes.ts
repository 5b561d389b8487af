import { z } from 'zod'
import { page, pageById, pageOf } from '../http/page.ts'
import { created, inScope, noContent, read, write, nameRoutes } from '../http/route.ts'
import { findKey, listKeys } from './credential-rows.ts'
import { shortText } from './fields.ts'
import { createKey, KEY_ROLES, revokeKey } from './keys.ts'
import { KeyRecord, showKey } from './records.ts'

const keyInScope = inScope('key', findKey)

export const keyRoutes = nameRoutes({
  listKeys: read('/v1/keys', {
    summary: 'List the keys; none is ever shown again',
    query: z.object(pageById('key')),
    answers: { 200: pageOf(KeyRecord) },
    async handle({ ctx, scope, query }) {
      const rows = await listKeys(ctx.db, scope.projectIds, query)
      return page(rows, query.limit, (row) => row.id, showKey)
    },
  }),

  createKey: write('POST', '/v1/keys', {
    summary: 'Create a key to the project; it is shown only in this answer',
    role: 'admin',
    body: z.object({ name: shortText, role: z.enum(KEY_ROLES).default('admin') }),
    answers: { 201: KeyRecord.extend({ key: z.string() }) },
    async handle({ ctx, scope, body }) {
      const { key, token } = await createKey(ctx, scope, body)
      return created(`/v1/keys/${key.id}`, { ...showKey(key), key: token })
    },
  }),

  getKey: read('/v1/keys/:id', {
    summary: 'Read a key; the token itself is never shown again',
    answers: { 200: KeyRecord },
    find: keyInScope,
    handle: async ({ subject }) => showKey(subject),
  }),

  deleteKey: write('DELETE', '/v1/keys/:id', {
    summary: 'Revoke a key at once',
    role: 'admin',
    answers: { 204: z.null() },
    find: keyInScope,
    async handle({ ctx, scope, subject }) {
      await revokeKey(ctx, scope, subject)
      return noContent()
    },
  }),
})
