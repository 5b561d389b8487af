import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorizeRequest } from '../accounts/authenticate.ts'
import { endStreamOnRevocation } from '../accounts/stream-revocation.ts'
import { unauthorized } from '../base/problem.ts'
import { authenticateClient } from '../portal/session.ts'
import { revocablePortalStream } from '../portal/stream.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { Scope } from '../ctx/scope.ts'
import { renderDocsPage } from '../http/docs-page.ts'
import type { OpenApiDocument } from '../http/openapi.ts'
import { HttpResponse, type Route, defineRoute } from '../http/route.ts'
import { bindRoute, createHttpServer } from '../http/server.ts'
import type { SandboxDriver } from '../sandbox/driver.ts'
import { createApiDocument, listPublicRoutes } from './api-document.ts'
import { clientPlaneRoutes } from './client.ts'
import { consolePages } from './console-pages.ts'

/** The server that people and programs reach: the open routes, the founder's and the client's plane. */
export function createPublicServer(
  ctx: Ctx,
  driver: Promise<SandboxDriver>,
  isDraining: () => boolean,
): FastifyInstance {
  const app = createHttpServer(ctx)
  // A stranger's body that never comes shall not keep a connection. It limits receiving: answers, waits and streams
  // begin when the request is whole.
  app.server.requestTimeout = 60_000
  const { open, founder, client } = listPublicRoutes(driver, isDraining)
  for (const one of [
    ...Object.values(open).flat(),
    ...referencePages(() => createApiDocument({ open, founder, client }, ctx.config.publicUrl)),
  ])
    bindRoute(app, ctx, one, async () => null)
  for (const one of Object.values(founder).flat()) {
    const scopeOf = (request: FastifyRequest) => authorizeRequest(ctx, request, one)
    bindRoute<Scope>(app, ctx, one, scopeOf, (scope, request, answer) =>
      endStreamOnRevocation(ctx, scope, request, answer),
    )
  }
  for (const one of consolePages()) bindRoute(app, ctx, one, async () => null)
  for (const one of clientPlaneRoutes) {
    const scopeOf = (request: FastifyRequest) => authenticateClient(ctx, request)
    bindRoute(app, ctx, one, scopeOf, (scope, request, answer) => revocablePortalStream(ctx, scope, request, answer))
  }
  // The sandbox plane lives on the cells' own sockets; here no credential opens it.
  app.all('/v1/internal/*', async () => {
    throw unauthorized()
  })
  return app
}

/** The document is created at the first request, because most starts never need it. */
function referencePages(create: () => OpenApiDocument): Route<null>[] {
  let document: OpenApiDocument | undefined
  const reference = () => (document ??= create())
  return [
    defineRoute('GET', '/openapi.json', {
      summary: 'This API as OpenAPI 3.1',
      responses: { 200: 'application/json' },
      handle: async () => reference(),
    }),
    defineRoute('GET', '/docs', {
      summary: 'API reference as a web page',
      responses: { 200: 'text/html' },
      handle: async () => new HttpResponse(200, Buffer.from(renderDocsPage(reference())), DOCS_HEADERS),
    }),
  ]
}

const DOCS_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  'x-content-type-options': 'nosniff',
}
