import { z } from 'zod'
import { integerParam, pageSchema } from '../../platform/http/page.ts'
import { badRequest } from '../../platform/base/problem.ts'
import { requireBroker } from '../broker/rest-client.ts'
import { defineRead, defineWrite, HttpResponse, nameRoutes } from '../../platform/http/route.ts'
import { refreshBrokerAccount } from '../broker/broker-account.ts'
import {
  connectToolkit,
  requireToolkit,
  startAuthorisation,
  type StartedAuthorisation,
} from './broker-authorisation.ts'
import { AuthorisationView, BrokerAccountView, ToolkitView } from './view.ts'
import { requireConnectionInScope } from './connections.ts'

const callbackUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https url' })
  .max(2048)
  .optional()

export const brokerRoutes = nameRoutes({
  listToolkits: defineRead('/v1/broker/toolkits', {
    summary: "List the broker's toolkits",
    description:
      'The services that the integration broker offers. The list comes from the broker at each call. 501 if the deployment has no broker (`BROKER_API_KEY`).',
    query: z.object({
      search: z.string().max(200).optional(),
      limit: integerParam.optional(),
      cursor: z.string().max(512).optional(),
    }),
    responses: { 200: pageSchema(ToolkitView) },
    find: async ({ ctx }) => requireBroker(ctx),
    handle: ({ query: { search, limit, cursor }, subject: broker }) =>
      broker.listToolkits({ search, limit: Math.min(Number(limit ?? 50), 200), cursor }),
  }),

  connectToolkit: defineWrite('POST', '/v1/broker/toolkits/:toolkit/connect', {
    summary: 'Connect a toolkit',
    description: 'Creates a connection for the toolkit and starts its authorisation.',
    role: 'admin',
    body: z.object({
      client_id: z.string().nullish(),
      read_tools: z.array(z.string()).optional(),
      callback_url: callbackUrl,
    }),
    responses: { 201: AuthorisationView, 200: AuthorisationView },
    find: async ({ ctx }) => requireBroker(ctx),
    async handle({ ctx, scope, params, body, subject: broker }) {
      const toolkit = params.toolkit ?? ''
      if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(toolkit)) throw badRequest('the toolkit must be a slug')
      const started = await connectToolkit(ctx, scope, broker, {
        toolkit,
        clientId: body.client_id ?? null,
        readTools: body.read_tools,
        callbackUrl: body.callback_url,
      })
      return toAuthorisationResponse(started.isNew ? 201 : 200, started)
    },
  }),

  connectAccount: defineWrite('POST', '/v1/connections/:id/broker/connect', {
    summary: 'Authorise a broker connection',
    description: 'Starts the authorisation and returns the URL to open.',
    role: 'admin',
    body: z.object({ callback_url: callbackUrl }),
    responses: { 200: AuthorisationView },
    async find(input) {
      const broker = requireBroker(input.ctx)
      return { broker, connection: await requireConnectionInScope(input) }
    },
    async handle({ ctx, scope, body, subject: { broker, connection } }) {
      return toAuthorisationResponse(200, await startAuthorisation(ctx, scope, broker, connection, body.callback_url))
    },
  }),

  getAccountStatus: defineRead('/v1/connections/:id/broker/status', {
    summary: 'Read the authorisation status of a broker connection',
    description:
      'Asks the broker, and stores the account once it is authorised. Poll it after the page of the broker was opened, until `active` is true. 501 without a broker.',
    responses: { 200: BrokerAccountView },
    async find(input) {
      const broker = requireBroker(input.ctx)
      return { broker, connection: await requireConnectionInScope(input) }
    },
    async handle({ ctx, subject: { broker, connection } }) {
      requireToolkit(connection)
      const { status, active } = await refreshBrokerAccount(ctx, broker, connection)
      return { status, active }
    },
  }),
})

function toAuthorisationResponse(
  status: number,
  { connection, link }: Omit<StartedAuthorisation, 'isNew'>,
): HttpResponse {
  const body = {
    connection_id: connection.id,
    redirect_url: link.redirectUrl,
    expires_at: link.expiresAt,
    status: 'INITIATED',
  }
  return new HttpResponse(status, body, status === 201 ? { location: `/v1/connections/${connection.id}` } : {})
}
