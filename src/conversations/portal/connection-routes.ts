import { z } from 'zod'
import { notFound } from '../../platform/base/problem.ts'
import { needsAuthorisation } from '../../connections/auth/auth-config.ts'
import { startOauthFlow } from '../../connections/auth/oauth-flow.ts'
import { stateCookieHeader } from '../../connections/setup/oauth-routes.ts'
import { OauthStartView } from '../../connections/setup/view.ts'
import { listAuthorisedConnections } from '../../connections/auth/token-store.ts'
import { resolveOauthFlow } from '../../connections/mcp/discover-flow.ts'
import { findConnection, listConnections } from '../../connections/connection/rows.ts'
import type { ClientScope } from '../../platform/ctx/scope.ts'
import { pageQueryById, pageSchema, toPage } from '../../platform/http/page.ts'
import { type FindInput, HttpResponse, portalRoute } from '../../platform/http/route.ts'
import { PortalConnectionView } from './view.ts'

/** A connection of the founder or of another client does not exist for this client. */
async function requireOwnConnection({ ctx, scope, params }: FindInput<ClientScope>) {
  const connection = await findConnection(ctx.db, params.id ?? '')
  const isOwn =
    connection?.project_id === scope.projectId &&
    connection.owner_kind === 'client' &&
    connection.owner_id === scope.clientId
  if (!connection || !isOwn || !needsAuthorisation(connection)) throw notFound('connection')
  return connection
}

/** Lets a client connect their own accounts. */
export const portalConnectionRoutes = {
  listPortalConnections: portalRoute('GET', '/v1/portal/connections', {
    summary: "List the client's accounts that are connected by OAuth",
    description:
      'Accounts that belong to this client and need its authorisation. `needs_authorisation` means that the client has to open the link of `…/oauth/start`.',
    query: z.object(pageQueryById('conn')),
    longRead: true,
    responses: { 200: pageSchema(PortalConnectionView) },
    async handle({ ctx, scope, query }) {
      const filter = { projectIds: [scope.projectId], clientId: scope.clientId, ...query }
      const page = toPage(
        await listConnections(ctx.db, filter),
        query.limit,
        ({ id }) => id,
        (connection) => connection,
      )
      const own = page.data.filter(needsAuthorisation)
      const authorised = await listAuthorisedConnections(ctx, own)
      const status = (id: string) => (authorised.has(id) ? 'connected' : 'needs_authorisation')
      return { ...page, data: own.map(({ id, name }) => ({ id, name, status: status(id) })) }
    },
  }),

  startPortalConnectionOauth: portalRoute('POST', '/v1/portal/connections/:id/oauth/start', {
    summary: "Authorise one of the client's accounts",
    description:
      'Returns the URL to open in the same browser, which gets a cookie. Afterwards the browser is sent back to the portal.',
    responses: { 200: OauthStartView },
    find: requireOwnConnection,
    async handle({ ctx, scope, subject }) {
      const flow = { ...(await resolveOauthFlow(ctx, subject, '/portal')), isBrowserBound: true }
      const authorize_url = await startOauthFlow(ctx, scope.actor, subject, flow)
      return new HttpResponse(200, { authorize_url }, stateCookieHeader(ctx, authorize_url))
    },
  }),
}
