import { z } from 'zod'
import { toPage, pageQueryById, pageSchema } from '../../platform/http/page.ts'
import {
  createdResponse,
  findInScope,
  noContentResponse,
  defineRead,
  defineWrite,
  nameRoutes,
} from '../../platform/http/route.ts'
import { findApiKey, listApiKeys } from '../authentication/credential-rows.ts'
import { shortTextField } from './input-fields.ts'
import { createApiKey, API_KEY_ROLES, revokeApiKey } from '../authentication/keys.ts'
import { KeyView, KeyWithSecretView, toKeyView } from '../authentication/view.ts'

const apiKeyInScope = findInScope('key', findApiKey)

export const keyRoutes = nameRoutes({
  listKeys: defineRead('/v1/keys', {
    summary: 'List API keys',
    description:
      'With role, last use and the end of each key (`hint`). The keys themselves are not stored and cannot be shown again.',
    query: z.object(pageQueryById('key')),
    longRead: true,
    responses: { 200: pageSchema(KeyView) },
    async handle({ ctx, scope, query }) {
      const rows = await listApiKeys(ctx.db, scope.projectIds, query)
      return toPage(rows, query.limit, (row) => row.id, toKeyView)
    },
  }),

  createKey: defineWrite('POST', '/v1/keys', {
    summary: 'Create an API key',
    description: 'The key is shown only in this response.',
    role: 'admin',
    body: z.object({ name: shortTextField, role: z.enum(API_KEY_ROLES).default('admin') }),
    responses: { 201: KeyWithSecretView },
    async handle({ ctx, scope, body }) {
      const { key, token } = await createApiKey(ctx, scope, body)
      return createdResponse(`/v1/keys/${key.id}`, { ...toKeyView(key), key: token })
    },
  }),

  getKey: defineRead('/v1/keys/:id', {
    summary: 'Read an API key',
    description:
      'With role, last use and the end of the key (`hint`). The key itself is not stored and cannot be shown again.',
    responses: { 200: KeyView },
    find: apiKeyInScope,
    handle: async ({ subject }) => toKeyView(subject),
  }),

  deleteKey: defineWrite('DELETE', '/v1/keys/:id', {
    summary: 'Revoke an API key',
    description: 'It stops working at once.',
    role: 'admin',
    responses: { 204: z.null() },
    find: apiKeyInScope,
    async handle({ ctx, scope, subject }) {
      await revokeApiKey(ctx, scope, subject)
      return noContentResponse()
    },
  }),
})
