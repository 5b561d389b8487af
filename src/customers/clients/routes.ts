import { z } from 'zod'
import { filterParam, pageQueryById, pageSchema, toPage } from '../../platform/http/page.ts'
import { createdResponse, defineRead, defineWrite, findInScope, nameRoutes } from '../../platform/http/route.ts'
import type { Db } from '../../platform/store/store.ts'
import { ClientInput, changeClient, createClient } from './clients.ts'
import { normalizeHandle } from './handles.ts'
import { type ClientWithHandles, findClient, listClientActivity, listClients } from './rows.ts'
import { ClientView, toClientView } from './view.ts'

export const clientInScope = findInScope('client', findClient)

export const clientRoutes = nameRoutes({
  listClients: defineRead('/v1/clients', {
    summary: 'List clients, newest first',
    description:
      'The people that the project works for, with their handles and latest activity. `handle` finds the client with this mail address, number or name.',
    query: z.object({
      handle: filterParam.transform((handle) => handle && normalizeHandle(handle)),
      ...pageQueryById('cli'),
    }),
    longRead: true,
    responses: { 200: pageSchema(ClientView) },
    async handle({ ctx, scope, query }) {
      const rows = await listClients(ctx.db, scope.projectIds, query)
      const activity = await listClientActivity(
        ctx.db,
        rows.map((row) => row.id),
      )
      const toView = (row: ClientWithHandles) =>
        toClientView(
          row,
          activity.find(({ client_id }) => client_id === row.id),
        )
      return toPage(rows, query.limit, (row) => row.id, toView)
    },
  }),

  createClient: defineWrite('POST', '/v1/clients', {
    summary: 'Create a client',
    description:
      'Clients are also created by the first message that they send to a channel. 409 if another client of the project has one of the handles.',
    body: ClientInput,
    responses: { 201: ClientView },
    async handle({ ctx, scope, body }) {
      const client = await createClient(ctx, scope, body)
      return createdResponse(`/v1/clients/${client.id}`, toClientView(client, undefined))
    },
  }),

  getClient: defineRead('/v1/clients/:id', {
    summary: 'Read a client',
    description:
      'With handles, metadata and latest activity. Tasks, threads and cases of the client are in their own lists, with `client_id`.',
    responses: { 200: ClientView },
    find: clientInScope,
    handle: ({ ctx, subject }) => readClientView(ctx.db, subject),
  }),

  updateClient: defineWrite('PUT', '/v1/clients/:id', {
    summary: 'Update a client',
    description: 'Fields that are left out keep their value.',
    body: ClientInput,
    responses: { 200: ClientView },
    find: clientInScope,
    handle: async ({ ctx, scope, subject, body }) =>
      readClientView(ctx.db, await changeClient(ctx, scope, subject, body)),
  }),
})

async function readClientView(db: Db, client: ClientWithHandles) {
  const [activity] = await listClientActivity(db, [client.id])
  return toClientView(client, activity)
}
