import { clientInScope } from '../../customers/clients/routes.ts'
import { defineWrite, HttpResponse, nameRoutes } from '../../platform/http/route.ts'
import { createPortalLink, revokePortalAccess } from './links.ts'
import { PortalLinkView, PortalOkView } from './view.ts'

/** The founder's routes to the portal of a client. */
export const portalLinkRoutes = nameRoutes({
  createPortalLink: defineWrite('POST', '/v1/clients/:id/portal-link', {
    summary: 'Create a portal link',
    description: 'The link works once and expires after seven days. It is shown only in this response.',
    responses: { 201: PortalLinkView },
    find: clientInScope,
    handle: async ({ ctx, scope, subject }) => new HttpResponse(201, await createPortalLink(ctx, scope.actor, subject)),
  }),

  revokePortalAccess: defineWrite('POST', '/v1/clients/:id/portal-revoke', {
    summary: "Revoke a client's portal access",
    description: 'Ends all of its links and sessions.',
    responses: { 200: PortalOkView },
    find: clientInScope,
    async handle({ ctx, scope, subject }) {
      await revokePortalAccess(ctx, scope, subject)
      return { ok: true }
    },
  }),
})
