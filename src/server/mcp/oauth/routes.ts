import { parseFormFields } from '../../../platform/base/parse-form.ts'
import { badRequest } from '../../../platform/base/problem.ts'
import { serviceUrl } from '../../../platform/config/service-url.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import type { HttpRequest } from '../../../platform/http/http-request.ts'
import { readRequestBytes } from '../../../platform/http/request-bytes.ts'
import { HttpResponse, nameRoutes, openRoute } from '../../../platform/http/route.ts'
import { jsonObject } from '../../../platform/http/validate.ts'
import { RESOURCE_METADATA_PATH } from './access.ts'
import { NO_STORE, oauthProblem, registerMcpApp } from './apps.ts'
import { mcpIssuer, mcpResource } from './authorise.ts'
import { exchangeForTokens, revokeMcpToken, type TokenForm } from './tokens.ts'
import {
  McpAppView,
  OauthErrorView,
  ResourceMetadataView,
  RevokedView,
  ServerMetadataView,
  toMcpAppView,
  TokensView,
} from './view.ts'

const MAX_FORM_BYTES = 16 * 1024
const MAX_FORM_FIELDS = 50
const ENDPOINT = '/v1/mcp-oauth'

const resourceMetadata = (path: string) =>
  openRoute('GET', path, {
    summary: 'Read how to get access to /mcp (RFC 9728)',
    description:
      'Apps read it after a 401 of `/mcp`, to learn which authorisation server issues tokens for it. An app that already has a token or a key does not need it.',
    responses: { 200: ResourceMetadataView },
    handle: async ({ ctx }) => ({
      resource: mcpResource(ctx),
      resource_name: 'Agent Work Service',
      authorization_servers: [mcpIssuer(ctx)],
      bearer_methods_supported: ['header'],
    }),
  })

/** OAuth 2.1 for apps that call `/mcp`. These routes need no credential; the member consents in the console. */
export const mcpOauthRoutes = nameRoutes({
  getMcpResource: resourceMetadata(RESOURCE_METADATA_PATH),
  // For apps that do not know the path of the resource yet.
  getMcpResourceOfOrigin: resourceMetadata('/.well-known/oauth-protected-resource'),

  getMcpAuthorisationServer: openRoute('GET', '/.well-known/oauth-authorization-server', {
    summary: 'Read the endpoints of the authorisation server (RFC 8414)',
    description:
      'Apps read it before they register and ask a member for access. It names the endpoints for registration, consent, tokens and revocation, all of this service.',
    responses: { 200: ServerMetadataView },
    handle: async ({ ctx }) => serverMetadata(ctx),
  }),

  openMcpConsent: openRoute('GET', '/authorize', {
    summary: 'Open the consent page',
    description:
      'The authorisation endpoint: an app opens it in the browser of the member. Redirects to the page of the console.',
    responses: { 303: 'text/html' },
    handle: async ({ request }) => new HttpResponse(303, null, { ...NO_STORE, location: consentPage(request) }),
  }),

  registerMcpApp: openRoute('POST', `${ENDPOINT}/register`, {
    summary: 'Register an app (RFC 7591)',
    description: 'Gives a `client_id` without a secret. At most 30 registrations in 15 minutes from one network.',
    body: jsonObject,
    maxBodyBytes: MAX_FORM_BYTES,
    responses: { 201: McpAppView, 400: OauthErrorView },
    async handle({ ctx, body, request }) {
      const app = await registerMcpApp(ctx, body, request.address)
      return new HttpResponse(201, toMcpAppView(app), NO_STORE)
    },
  }),

  createMcpToken: openRoute('POST', `${ENDPOINT}/token`, {
    summary: 'Exchange a code or a refresh token for tokens (RFC 6749)',
    description:
      'The body is a form. The access token works at `/mcp` for 15 minutes. Each refresh token works once; a second use revokes the access of the app.',
    streamsBody: true,
    responses: { 200: TokensView, 400: OauthErrorView },
    handle: async ({ ctx, request }) =>
      new HttpResponse(200, await exchangeForTokens(ctx, await readForm(request)), NO_STORE),
  }),

  revokeMcpToken: openRoute('POST', `${ENDPOINT}/revoke`, {
    summary: 'Give access back (RFC 7009)',
    description: 'The body is a form with `token`. Ends the whole access of the app that the token belongs to.',
    streamsBody: true,
    responses: { 200: RevokedView, 400: OauthErrorView },
    async handle({ ctx, request }) {
      await revokeMcpToken(ctx, await readForm(request))
      return new HttpResponse(200, {}, NO_STORE)
    },
  }),
})

/** One parameter has all others: the console would read values such as a long number in another way. */
function consentPage({ url }: HttpRequest): string {
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : ''
  return `/connect-app?request=${Buffer.from(query).toString('base64url')}`
}

const serverMetadata = (ctx: Ctx) => ({
  issuer: mcpIssuer(ctx),
  authorization_endpoint: serviceUrl(ctx.config, '/authorize'),
  token_endpoint: serviceUrl(ctx.config, `${ENDPOINT}/token`),
  registration_endpoint: serviceUrl(ctx.config, `${ENDPOINT}/register`),
  revocation_endpoint: serviceUrl(ctx.config, `${ENDPOINT}/revoke`),
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  authorization_response_iss_parameter_supported: true,
})

async function readForm({ raw, headers }: HttpRequest): Promise<TokenForm> {
  const body = await readRequestBytes(raw, MAX_FORM_BYTES)
  if (!/^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? ''))
    throw oauthProblem('invalid_request', 'content type must be application/x-www-form-urlencoded')
  const fields = parseFormFields(body, MAX_FORM_FIELDS)
  if (!fields) throw oauthProblem('invalid_request', `body must not have more than ${MAX_FORM_FIELDS} fields`)
  if (fields.some(([, value]) => value.includes('\0'))) throw badRequest('body must not contain nul characters')
  const isOnce = (name: string) => fields.filter(([other]) => other === name).length === 1
  return new Map(fields.filter(([name]) => isOnce(name)))
}
