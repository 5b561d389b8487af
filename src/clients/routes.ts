import { z } from 'zod'
import { filterParam, toPage, pageQueryById, pageSchema } from '../http/page.ts'
import { HttpResponse, createdResponse, findInScope, defineRead, defineWrite, nameRoutes } from '../http/route.ts'
import { findClient, listClients } from './rows.ts'
import { ClientInput, changeClient, createClient } from './clients.ts'
import { normalizeHandle } from './handles.ts'
import { createPortalLink, revokePortalAccess } from '../portal/links.ts'
import { ClientView, toClientView } from '../channels/view.ts'

const clientInScope = findInScope('client', findClient)

export const clientRoutes = nameRoutes({
  listClients: defineRead('/v1/clients', {
    summary: 'List clients, newest first',
    query: z.object({
      handle: filterParam.transform((handle) => handle && normalizeHandle(handle)),
      ...pageQueryById('cli'),
    }),
    responses: { 200: pageSchema(ClientView) },
    async handle({ ctx, scope, query }) {
      return toPage(await listClients(ctx.db, scope.projectIds, query), query.limit, (row) => row.id, toClientView)
    },
  }),

  createClient: defineWrite('POST', '/v1/clients', {
    summary: 'Create a client',
    body: ClientInput,
    responses: { 201: ClientView },
    async handle({ ctx, scope, body }) {
      const client = await createClient(ctx, scope, body)
      return createdResponse(`/v1/clients/${client.id}`, toClientView(client))
    },
  }),

  getClient: defineRead('/v1/clients/:id', {
    summary: 'Read a client',
    responses: { 200: ClientView },
    find: clientInScope,
    handle: async ({ subject }) => toClientView(subject),
  }),

  updateClient: defineWrite('PUT', '/v1/clients/:id', {
    summary: 'Update a client',
    description: 'Fields that are left out keep their value.',
    body: ClientInput,
    responses: { 200: ClientView },
    find: clientInScope,
    handle: async ({ ctx, scope, subject, body }) => toClientView(await changeClient(ctx, scope, subject, body)),
  }),

  createPortalLink: defineWrite('POST', '/v1/clients/:id/portal-link', {
    summary: 'Create a portal link',
    description: 'The link works once and expires after seven days. It is shown only in this response.',
    responses: { 201: z.object({ token: z.string(), expires_at: z.string(), url: z.string() }) },
    find: clientInScope,
    handle: async ({ ctx, scope, subject }) => new HttpResponse(201, await createPortalLink(ctx, scope, subject)),
  }),

  revokePortalAccess: defineWrite('POST', '/v1/clients/:id/portal-revoke', {
    summary: "Revoke a client's portal access",
    description: 'Ends all of its links and sessions.',
    responses: { 200: z.object({ ok: z.literal(true) }) },
    find: clientInScope,
    async handle({ ctx, scope, subject }) {
      await revokePortalAccess(ctx, scope, subject)
      return { ok: true }
    },
  }),
})
