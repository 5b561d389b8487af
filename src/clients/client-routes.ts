import { z } from 'zod'
import { filter, page, pageById, pageOf } from '../http/page.ts'
import { Answer, created, inScope, read, write, nameRoutes } from '../http/route.ts'
import { findClient, listClients } from './client-rows.ts'
import { ClientInput, changeClient, createClient } from './clients.ts'
import { comparable } from './handles.ts'
import { makePortalLink, revokePortal } from './portal-links.ts'
import { ClientRecord, showClient } from './records.ts'

const clientInScope = inScope('client', findClient)

export const clientRoutes = nameRoutes({
  listClients: read('/v1/clients', {
    summary: 'List clients, newest first',
    query: z.object({ handle: filter.transform((handle) => handle && comparable(handle)), ...pageById('cli') }),
    answers: { 200: pageOf(ClientRecord) },
    async handle({ ctx, scope, query }) {
      return page(await listClients(ctx.db, scope.projectIds, query), query.limit, (row) => row.id, showClient)
    },
  }),

  createClient: write('POST', '/v1/clients', {
    summary: 'Create a client',
    body: ClientInput,
    answers: { 201: ClientRecord },
    async handle({ ctx, scope, body }) {
      const client = await createClient(ctx, scope, body)
      return created(`/v1/clients/${client.id}`, showClient(client))
    },
  }),

  getClient: read('/v1/clients/:id', {
    summary: 'Read a client',
    answers: { 200: ClientRecord },
    find: clientInScope,
    handle: async ({ subject }) => showClient(subject),
  }),

  updateClient: write('PUT', '/v1/clients/:id', {
    summary: 'Change a client: the fields that are given are replaced',
    body: ClientInput,
    answers: { 200: ClientRecord },
    find: clientInScope,
    handle: async ({ ctx, scope, subject, body }) => showClient(await changeClient(ctx, scope, subject, body)),
  }),

  createPortalLink: write('POST', '/v1/clients/:id/portal-link', {
    summary: 'Make a link to the portal: good once, for seven days; shown only in this answer',
    answers: { 201: z.object({ token: z.string(), expires_at: z.string(), url: z.string() }) },
    find: clientInScope,
    handle: async ({ ctx, scope, subject }) => new Answer(201, await makePortalLink(ctx, scope, subject)),
  }),

  revokePortalAccess: write('POST', '/v1/clients/:id/portal-revoke', {
    summary: "End a client's access to the portal: links and sessions",
    answers: { 200: z.object({ ok: z.literal(true) }) },
    find: clientInScope,
    async handle({ ctx, scope, subject }) {
      await revokePortal(ctx, scope, subject)
      return { ok: true }
    },
  }),
})
