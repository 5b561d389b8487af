import { z } from 'zod'
import { refuseApiKeys } from '../../../identity/accounts/members.ts'
import { notFound } from '../../../platform/base/problem.ts'
import { inTx } from '../../../platform/ctx/ctx.ts'
import { isRoleAtLeast, ROLES, type Scope } from '../../../platform/ctx/scope.ts'
import { pageQueryById, pageSchema, toPage } from '../../../platform/http/page.ts'
import {
  defineRead,
  type FindInput,
  HttpResponse,
  nameRoutes,
  noContentResponse,
  writeOrganisation,
} from '../../../platform/http/route.ts'
import { authoriseMcpApp, checkAccessRequest, redirectTo, revokeMcpAuthorisation } from './authorise.ts'
import { NO_STORE } from './apps.ts'
import { findMcpAuthorisation, listMcpAuthorisations } from './rows.ts'
import { AuthorisedView, ConsentView, McpAuthorisationView, toMcpAuthorisationView } from './view.ts'

const parameter = z.string().max(2_000)

/** The parameters with which the app opened the consent page; unknown ones, such as `scope`, are ignored. */
const requestFields = {
  client_id: parameter,
  redirect_uri: parameter,
  response_type: parameter.optional(),
  code_challenge: parameter.optional(),
  code_challenge_method: parameter.optional(),
  resource: parameter.optional(),
  state: parameter.optional(),
}

export const mcpAuthorisationRoutes = nameRoutes({
  getMcpConsent: defineRead('/v1/mcp-oauth/consent', {
    summary: 'Check the request of an app for access to /mcp',
    description: 'What the consent page shows. An unknown app or redirect URI is 400.',
    query: z.object(requestFields),
    responses: { 200: ConsentView },
    find: async ({ scope }) => refuseApiKeys(scope),
    async handle({ ctx, query }) {
      const { app, error } = await checkAccessRequest(ctx, query)
      const refusal = error
        ? { error: error.code, error_description: error.description }
        : { error: 'access_denied', error_description: 'the member refused' }
      const { host, protocol } = new URL(query.redirect_uri)
      return {
        app: { name: app.name, redirect_host: protocol === 'https:' ? host : `${protocol}//${host}` },
        error: error?.description ?? null,
        return_url: redirectTo(ctx, query, refusal),
      }
    },
  }),

  createMcpAuthorisation: writeOrganisation('POST', '/v1/mcp-authorisations', {
    summary: 'Give an app access to /mcp',
    description:
      'A member gives the app access to one project with a role of at most their own. Returns the URL that brings the code to the app; the code works once, for 5 minutes.',
    role: 'viewer',
    body: z.object({ ...requestFields, project_id: z.string(), role: z.enum(ROLES) }),
    responses: { 200: AuthorisedView },
    find: async ({ scope }) => refuseApiKeys(scope),
    async handle({ ctx, scope, body: { project_id: projectId, role, ...request } }) {
      const redirect_to = await authoriseMcpApp(ctx, scope, request, { projectId, role })
      return new HttpResponse(200, { redirect_to }, NO_STORE)
    },
  }),

  listMcpAuthorisations: defineRead('/v1/mcp-authorisations', {
    summary: 'List the apps that have access to /mcp',
    description: 'A member sees their own; an admin those of all members.',
    query: z.object(pageQueryById('mca')),
    longRead: true,
    responses: { 200: pageSchema(McpAuthorisationView) },
    async handle({ ctx, scope, query }) {
      const rows = await listMcpAuthorisations(ctx.db, scope.projectIds, { ...query, memberId: onlyOwn(scope) })
      return toPage(rows, query.limit, (row) => row.id, toMcpAuthorisationView)
    },
  }),

  deleteMcpAuthorisation: writeOrganisation('DELETE', '/v1/mcp-authorisations/:id', {
    summary: 'Revoke the access of an app',
    description: 'Its tokens stop working at once. A member can revoke their own; an admin those of all members.',
    role: 'viewer',
    responses: { 204: z.null() },
    find: authorisationInScope,
    async handle({ ctx, scope, subject }) {
      const revoked = await inTx(ctx, (tx) => revokeMcpAuthorisation(tx, scope.actor, subject, 'revoked'))
      if (!revoked) throw notFound('authorisation')
      return noContentResponse()
    },
  }),
})

/** The member whose authorisations the caller may see; undefined: all. */
const onlyOwn = ({ role, actor }: Scope) => (isRoleAtLeast(role, 'admin') ? undefined : actor.id)

async function authorisationInScope({ ctx, scope, params }: FindInput<Scope>) {
  const found = await findMcpAuthorisation(ctx.db, scope.projectIds, params.id ?? '')
  const own = onlyOwn(scope)
  if (!found || (own !== undefined && found.member_id !== own)) throw notFound('authorisation')
  return found
}
