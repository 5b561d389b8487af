import { z } from 'zod'
import { badRequest } from '../../platform/base/problem.ts'
import { removeTrailingSlashes } from '../../platform/base/text.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import {
  defineRead,
  defineWrite,
  HttpResponse,
  nameRoutes,
  openRoute,
  type RequestHead,
} from '../../platform/http/route.ts'
import { requireConnectionInScope } from './connections.ts'
import { resolveOauthFlow } from '../mcp/discover-flow.ts'
import { ConnectionHealthView, OauthStartView, toConnectionHealthView } from './view.ts'
import { finishOauthFlow, type FinishedFlow, oauthRedirectUri, startOauthFlow } from '../auth/oauth-flow.ts'

export const oauthRoutes = nameRoutes({
  startConnectionOauth: defineWrite('POST', '/v1/connections/:id/oauth/start', {
    summary: 'Authorise an OAuth 2 connection',
    description:
      'Returns the URL to open in a browser. The provider sends the browser back to `SVC_PUBLIC_URL/v1/oauth/callback`, and the service to `return_to`, a path of its own. The link works once, for 10 minutes.',
    role: 'admin',
    body: z.object({ return_to: z.string().max(2048).optional() }),
    responses: { 200: OauthStartView },
    find: requireConnectionInScope,
    async handle({ ctx, scope, subject, body }) {
      const returnTo = body.return_to ?? '/connections'
      const flow = await resolveOauthFlow(ctx, subject, returnTo)
      return { authorize_url: await startOauthFlow(ctx, scope.actor, subject, flow) }
    },
  }),

  getConnectionHealth: defineRead('/v1/connections/:id/health', {
    summary: 'Read the health of a connection',
    description: 'The result of its last use or test. `not_connected`: its secret or its authorisation is missing.',
    responses: { 200: ConnectionHealthView },
    find: requireConnectionInScope,
    handle: ({ ctx, subject }) => toConnectionHealthView(ctx, subject),
  }),
})

const parameter = z.string().max(4096).optional()

/** Needs no credential: the state is the proof that this service has started the authorisation. */
export const oauthCallbackRoutes = nameRoutes({
  finishConnectionOauth: openRoute('GET', '/v1/oauth/callback', {
    summary: 'Finish the authorisation of a connection',
    description: 'The redirect URI of OAuth 2: the provider sends the browser here. Redirects to `return_to`.',
    query: z.object({
      state: parameter,
      code: parameter,
      iss: parameter,
      error: parameter,
      error_description: parameter,
      error_uri: parameter,
    }),
    responses: { 303: 'text/html' },
    async handle({ ctx, query, request }) {
      const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
      return toBrowserResponse(
        ctx,
        request,
        await finishOauthFlow(ctx, new URLSearchParams(given), stateCookie(request)),
      )
    },
  }),
})

/** The URL of the callback contains the code, so no other page may learn it as referrer, and no cache may keep it. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

const STATE_COOKIE = 'svc_oauth_state'

function stateCookie({ headers }: RequestHead): string | null {
  return new RegExp(`(?:^|; )${STATE_COOKIE}=([^;]+)`).exec(headers.cookie ?? '')?.[1] ?? null
}

/** The header that lets the browser finish the flow that it has started. It is sent to the callback only. */
export function stateCookieHeader(ctx: Ctx, authorizeUrl: string): Record<string, string> {
  const state = new URL(authorizeUrl).searchParams.get('state') ?? ''
  const { protocol, pathname } = new URL(oauthRedirectUri(ctx))
  const secure = protocol === 'https:' ? '; Secure' : ''
  return { 'set-cookie': `${STATE_COOKIE}=${state}; Path=${pathname}; Max-Age=600; HttpOnly; SameSite=Lax${secure}` }
}

const UNKNOWN_STATE = 'this link is not valid any more: go back to the connection and start the authorisation again'

function toBrowserResponse({ config }: Ctx, { headers }: RequestHead, { returnTo, error }: FinishedFlow): HttpResponse {
  if (returnTo === null || config.publicUrl === null) {
    if (!headers.accept?.includes('text/html')) throw badRequest(UNKNOWN_STATE)
    return new HttpResponse(
      400,
      Buffer.from(`<!doctype html><title>Not connected</title><p>${UNKNOWN_STATE}</p>`),
      HEADERS,
    )
  }
  const location = new URL(`${removeTrailingSlashes(config.publicUrl)}${returnTo}`)
  if (error === null) location.searchParams.set('oauth', 'connected')
  else location.searchParams.set('oauth_error', error)
  return new HttpResponse(303, null, { ...HEADERS, location: location.href })
}
