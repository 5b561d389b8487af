import type { FastifyInstance, FastifyRequest } from 'fastify'
import { scopeFor } from '../accounts/authenticate.ts'
import { untilRevoked } from '../accounts/until-revoked.ts'
import { unauthorized } from '../base/problem.ts'
import { clientScope } from '../clients/portal-session.ts'
import { untilPortalRevoked } from '../clients/portal-stream.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { Scope } from '../ctx/scope.ts'
import { docsPage } from '../http/docs.ts'
import { type Described, type OpenApiDocument, openApi } from '../http/openapi.ts'
import { Answer, type Route, route } from '../http/route.ts'
import { bind, httpServer } from '../http/server.ts'
import type { Driver } from '../sandbox/driver.ts'
import { clientPlane, openClientRoutes } from './client.ts'
import { founderPlane } from './founder.ts'
import { metaRoutes } from './meta.ts'
import { openPlane } from './open.ts'
import { pages } from './pages.ts'
import { VERSION } from './version.ts'

/** The server that people and programs reach: the open routes, the founder's and the client's plane. */
export function servePublicPlanes(ctx: Ctx, driver: Promise<Driver>, isDraining: () => boolean): FastifyInstance {
  const app = httpServer(ctx)
  // A stranger's body that never comes shall not keep a connection. It limits receiving: answers, waits and streams
  // begin when the request is whole.
  app.server.requestTimeout = 60_000
  const open = { ...openPlane(isDraining), Portal: openClientRoutes }
  const founder = { ...founderPlane, Service: Object.values(metaRoutes(driver)) }
  const client = { Portal: clientPlane }
  const described = [...describe('open', open), ...describe('founder', founder), ...describe('client', client)]
  for (const one of [...Object.values(open).flat(), ...referencePages(described)]) bind(app, ctx, one, async () => null)
  for (const one of Object.values(founder).flat()) {
    const scopeOf = (request: FastifyRequest) => scopeFor(ctx, request, one)
    bind<Scope>(app, ctx, one, scopeOf, (scope, request, answer) => untilRevoked(ctx, scope, request, answer))
  }
  for (const one of pages()) bind(app, ctx, one, async () => null)
  for (const one of clientPlane) {
    const scopeOf = (request: FastifyRequest) => clientScope(ctx, request)
    bind(app, ctx, one, scopeOf, (scope, request, answer) => untilPortalRevoked(ctx, scope, request, answer))
  }
  // The sandbox plane lives on the cells' own sockets; here no credential opens it.
  app.all('/v1/internal/*', async () => {
    throw unauthorized()
  })
  return app
}

function describe(plane: Described['plane'], sections: Record<string, Described['route'][]>): Described[] {
  return Object.entries(sections).flatMap(([section, routes]) => routes.map((route) => ({ plane, section, route })))
}

/** Made at the first request: most starts are never asked. */
function referencePages(described: Described[]): Route<null>[] {
  let document: OpenApiDocument | undefined
  const reference = () => (document ??= openApi(VERSION, described))
  return [
    route('GET', '/openapi.json', {
      summary: 'This API as OpenAPI 3.1',
      answers: { 200: 'application/json' },
      handle: async () => reference(),
    }),
    route('GET', '/docs', {
      summary: 'This API for people',
      answers: { 200: 'text/html' },
      handle: async () => new Answer(200, Buffer.from(docsPage(reference())), DOCS_HEADERS),
    }),
  ]
}

const DOCS_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  'x-content-type-options': 'nosniff',
}
