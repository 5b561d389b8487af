import { z } from 'zod'
import { bearerToken } from '../../identity/authentication/authenticate.ts'
import { readRequestBytes } from '../../platform/http/request-bytes.ts'
import { HttpResponse, nameRoutes, openRoute, portalRoute } from '../../platform/http/route.ts'
import { createDeviceLink } from './links.ts'
import { changeNotices, unsubscribeByToken } from './notice-consent.ts'
import { requestPortalLink } from './request-link.ts'
import { endPortalSession, openPortalSession, requireOwnClient } from './session.ts'
import { PortalLinkView, PortalOkView, PortalSessionView, toPortalClientView } from './view.ts'

const MAX_UNSUBSCRIBE_BYTES = 4096

/** These routes need no session: the token in the request is the credential, or the request has no visible result. */
export const portalSignInRoutes = nameRoutes({
  createPortalSession: openRoute('POST', '/v1/portal/session', {
    summary: 'Start a portal session',
    description: 'Exchanges the token of a portal link for a session, once.',
    body: z.object({ token: z.string().max(200) }),
    responses: { 201: PortalSessionView },
    // A POST, so that a mail scanner does not use the link up.
    async handle({ ctx, body }) {
      const { client, ...session } = await openPortalSession(ctx, body.token)
      const headers = { location: '/v1/portal/me' }
      return new HttpResponse(201, { ...session, client: toPortalClientView(client) }, headers)
    },
  }),

  requestPortalLink: openRoute('POST', '/v1/portal/links', {
    summary: 'Mail a sign-in link to a client',
    description:
      'Always 202: the response does not say whether there is such a client. At most three mails to an address in 15 minutes.',
    body: z.object({
      email: z.string().trim().min(3).max(320),
      project: z.string().min(1).max(100).optional(),
      thread: z.string().min(1).max(100).optional().meta({
        description: 'The link opens this conversation. Left out if it is not one of the client.',
      }),
    }),
    responses: { 202: PortalOkView },
    async handle({ ctx, body: { email, project, thread }, request }) {
      await requestPortalLink(ctx, { email, project, thread, caller: request.address })
      return new HttpResponse(202, { ok: true })
    },
  }),

  unsubscribeClient: openRoute('POST', '/v1/portal/unsubscribe/:token', {
    summary: 'Stop the mails to a client',
    description:
      'The one-click address of RFC 8058 in every notice. The body is not read; an unknown token is 200 too, with `found: false`.',
    streamsBody: true,
    responses: { 200: PortalOkView.extend({ found: z.boolean() }) },
    async handle({ ctx, params, request }) {
      await readRequestBytes(request.raw, MAX_UNSUBSCRIBE_BYTES)
      return { ok: true, found: await unsubscribeByToken(ctx, params.token ?? '') }
    },
  }),
})

/** Devices and mails of the client. */
export const portalAccessRoutes = {
  createPortalDeviceLink: portalRoute('POST', '/v1/portal/device-link', {
    summary: 'Create a sign-in link for another device of the client',
    description: 'The link works once and expires after 15 minutes. 429 if the client has five such links open.',
    responses: { 201: PortalLinkView },
    async handle({ ctx, scope }) {
      const client = await requireOwnClient(ctx, scope)
      return new HttpResponse(201, await createDeviceLink(ctx, scope.actor, client))
    },
  }),

  endPortalSession: portalRoute('POST', '/v1/portal/sign-out', {
    summary: 'Sign out',
    description: 'Ends this session, or with `everywhere` all sessions and unused links of the client.',
    body: z.object({ everywhere: z.boolean().optional() }),
    responses: { 200: PortalOkView },
    async handle({ ctx, scope, body, request }) {
      await endPortalSession(ctx, scope, bearerToken(request), body.everywhere ?? false)
      return { ok: true }
    },
  }),

  setPortalNotices: portalRoute('POST', '/v1/portal/notices', {
    summary: 'Start or stop the mails about answers',
    description:
      '`enabled: false` stops the mails that tell the client of new answers, until it is set to true again. Sign-in links are still sent. It changes nothing for other clients.',
    body: z.object({ enabled: z.boolean() }),
    responses: { 200: PortalOkView },
    async handle({ ctx, scope, body }) {
      await changeNotices(ctx, scope, scope.actor, body.enabled)
      return { ok: true }
    },
  }),
}
