import { authenticateWithRole, requireOneProject } from '../../identity/authentication/authenticate.ts'
import { endStreamOnRevocation } from '../../identity/authentication/stream-revocation.ts'
import { unauthorized } from '../../platform/base/problem.ts'
import { authenticateClient } from '../../conversations/portal/session.ts'
import { revocablePortalStream } from '../../conversations/portal/stream.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { Scope } from '../../platform/ctx/scope.ts'
import { bindRoute } from '../../platform/http/bind-route.ts'
import { allowEveryOrigin, allowOrigins } from '../../platform/http/cors.ts'
import { type ConnectionLimit, limitConnections } from '../../platform/http/connection-limit.ts'
import type { HttpRequest } from '../../platform/http/http-request.ts'
import type { OrganisationRoute, StreamResponse } from '../../platform/http/route.ts'
import { HttpServer } from '../../platform/http/server.ts'
import { revocableStream } from '../../platform/http/revocable-stream.ts'
import { authenticateMcpRequest, mcpAccess } from '../mcp/oauth/access.ts'
import { MCP_PATH } from '../mcp/routes.ts'
import { createApiDocument, listPublicRoutes } from './api-document.ts'
import { consoleRoutes } from './console-routes.ts'
import type { FounderRoute } from './founder.ts'
import { referenceRoutes } from './reference-routes.ts'
import { healthRoutes, type ReplicaState } from './service-routes.ts'
import type { ShownSandbox } from './view.ts'

/** The time to receive a whole body. Responses, waits and streams begin after it and are not limited. */
const BODY_TIMEOUT_MS = 60_000

/** The server on the public port: the open routes, the founder plane, the client plane and the console. */
export function createPublicServer(
  ctx: Ctx,
  driver: Promise<ShownSandbox | null>,
  readState: () => ReplicaState,
): HttpServer {
  const app = new HttpServer(ctx)
  allowOrigins(app, ctx.config.corsOrigins)
  // The widget runs on the founder's own pages.
  allowEveryOrigin(app, ['/v1/hooks/', '/v1/widgets/'])
  const connections = limitConnections(app.server, ctx)
  const { open, founder, client } = listPublicRoutes(driver, readState)
  const reference = referenceRoutes(() => createApiDocument({ open, founder, client }, ctx.config.publicUrl))
  const unauthenticated = [...Object.values(open).flat(), ...reference, ...consoleRoutes()]
  for (const route of unauthenticated) bindRoute(app, ctx, route, { authenticate: async () => null })
  for (const route of Object.values(founder).flat()) {
    if (route.level === 'organisation' && route.path === MCP_PATH) bindMcpRoute(app, ctx, route, connections)
    else bindFounderRoute(app, ctx, route, connections)
  }
  for (const route of Object.values(client).flat()) {
    bindRoute(app, ctx, route, {
      authenticate: async (request) => {
        const scope = await authenticateClient(ctx, request)
        connections.release(request.raw.socket)
        return scope
      },
      bodyTimeoutMs: BODY_TIMEOUT_MS,
      limitStream: (scope, request, response) => revocablePortalStream(ctx, scope, request, response),
    })
  }
  // The sandbox plane is reachable only through the sockets of cells; on this port no credential opens it.
  app.add(ALL_METHODS, '/v1/internal/*', { handle: refuseCredential })
  return app
}

/** The server of a replica that only executes tasks: whether it is alive and ready, and nothing else. */
export function createHealthServer(ctx: Ctx, readState: () => ReplicaState): HttpServer {
  const app = new HttpServer(ctx)
  limitConnections(app.server, ctx)
  for (const route of Object.values(healthRoutes(readState)))
    bindRoute(app, ctx, route, { authenticate: async () => null })
  return app
}

const ALL_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY']

/** Before the body is read, as on every other route without a valid credential. */
async function refuseCredential(): Promise<never> {
  throw unauthorized()
}

/** The only routes that also accept the tokens of apps. Each tool checks the role, so every role may call them. */
function bindMcpRoute(app: HttpServer, ctx: Ctx, route: OrganisationRoute, connections: ConnectionLimit): void {
  bindRoute(app, ctx, route, {
    authenticate: async (request) => {
      const scope = await authenticateMcpRequest(ctx, request)
      connections.release(request.raw.socket)
      return scope
    },
    bodyTimeoutMs: BODY_TIMEOUT_MS,
    limitStream: (scope, request, response) => revocableStream(ctx, mcpAccess(ctx, scope, request), response),
  })
}

/** A project route gets a scope of one project; every other founder route gets all projects of the caller. */
function bindFounderRoute(app: HttpServer, ctx: Ctx, route: FounderRoute, connections: ConnectionLimit): void {
  const authenticate = async (request: HttpRequest) => {
    const scope = await authenticateWithRole(ctx, request, route.role)
    connections.release(request.raw.socket)
    return scope
  }
  const limitStream = (scope: Scope, request: HttpRequest, response: StreamResponse) =>
    endStreamOnRevocation(ctx, scope, request, response)
  const bodyTimeoutMs = BODY_TIMEOUT_MS
  if (route.level === 'organisation') bindRoute(app, ctx, route, { authenticate, bodyTimeoutMs, limitStream })
  else {
    const inOneProject = async (request: HttpRequest) => requireOneProject(await authenticate(request))
    bindRoute(app, ctx, route, { authenticate: inOneProject, bodyTimeoutMs, limitStream })
  }
}
