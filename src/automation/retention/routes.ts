import { clientInScope } from '../../customers/clients/routes.ts'
import { defineWrite, nameRoutes } from '../../platform/http/route.ts'
import { eraseClient } from './erase-client.ts'
import { ErasureView } from './view.ts'

export const erasureRoutes = nameRoutes({
  eraseClient: defineWrite('POST', '/v1/clients/:id/erase', {
    summary: 'Erase a client',
    description:
      'Ends the unfinished tasks of the client, and deletes their content, logs, files, threads, connections and what was learned from them. Tasks keep their ids, times, status and cost. This cannot be undone.',
    role: 'admin',
    responses: { 200: ErasureView },
    find: clientInScope,
    handle: async ({ ctx, scope, subject }) => ({
      client_id: subject.id,
      erased: await eraseClient(ctx, scope, subject),
    }),
  }),
})
