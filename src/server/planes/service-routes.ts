import { authRoutes } from '../../identity/accounts/auth-routes.ts'
import { publicBrandRoutes } from '../../customers/brand/routes.ts'
import { hookRoutes } from '../../customers/channels/hook-routes.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { oauthCallbackRoutes } from '../../connections/setup/oauth-routes.ts'
import { decideRoutes } from '../../approvals/notifications/links/decide-routes.ts'
import { defineRead, HttpResponse, nameRoutes, openRoute, type Route } from '../../platform/http/route.ts'
import { notifierHookRoutes } from '../../approvals/notifications/hook-routes.ts'
import { mcpOauthRoutes } from '../mcp/oauth/routes.ts'
import { portalSignInRoutes } from '../../conversations/portal/access-routes.ts'
import { StoreUnavailable } from '../../platform/store/errors.ts'
import { widgetRoutes } from '../../conversations/widget/routes.ts'
import { HealthView, MetaView, type ShownSandbox, toMetaView, UnhealthyView } from './view.ts'

export type ReplicaState = 'starting' | 'running' | 'stopping'

/** The state of this replica and of its store. Every role has these routes. */
export const healthRoutes = (readState: () => ReplicaState) =>
  nameRoutes({
    getHealth: openRoute('GET', '/health', {
      summary: 'Check the health of the service',
      description:
        'For people and simple monitors. 503 while the process is stopping or cannot reach its store; a process that is still starting is healthy. Load balancers use `/readyz`.',
      responses: { 200: HealthView, 503: UnhealthyView },
      handle: async ({ ctx }) => (readState() === 'stopping' ? stopping() : checkStore(ctx)),
    }),

    getLiveness: openRoute('GET', '/livez', {
      summary: 'Check that the process responds; a process that does not must be restarted',
      description:
        'Always 200 while the process responds, also without its store. Do not use it to decide whether to send requests: that is `/readyz`.',
      responses: { 200: HealthView },
      handle: async () => ({ status: 'ok' }),
    }),

    getReadiness: openRoute('GET', '/readyz', {
      summary: 'Check that the replica can work: it has started, is not stopping, and reaches its store',
      description:
        'For load balancers: send no requests to a replica that answers 503. The error says whether it is starting, stopping or without its store.',
      responses: { 200: HealthView, 503: UnhealthyView },
      async handle({ ctx }) {
        if (readState() === 'starting') return unavailable('the service is starting')
        return readState() === 'stopping' ? stopping() : checkStore(ctx)
      },
    }),
  })

async function checkStore(ctx: Ctx) {
  try {
    await ctx.store.ping()
    return { status: 'ok' }
  } catch (error) {
    return unavailable(error instanceof StoreUnavailable ? error.message : 'the store cannot be reached')
  }
}

const stopping = () => unavailable('the service is stopping')

const unavailable = (error: string) => new HttpResponse(503, { status: 'unavailable', error })

/** The routes without a credential, by section of the reference. */
export const openPlaneRoutes = (readState: () => ReplicaState): Record<string, Route<null>[]> => ({
  Health: Object.values(healthRoutes(readState)),
  'Sign-in': Object.values(authRoutes),
  Connections: Object.values(oauthCallbackRoutes),
  Channels: [...Object.values(hookRoutes), ...Object.values(widgetRoutes)],
  Notifications: [...Object.values(decideRoutes), ...Object.values(notifierHookRoutes)],
  MCP: Object.values(mcpOauthRoutes),
  Portal: [...Object.values(publicBrandRoutes), ...Object.values(portalSignInRoutes)],
})

export const metaRoutes = (driver: Promise<ShownSandbox | null>) =>
  nameRoutes({
    getMeta: defineRead('/v1/meta', {
      summary: 'Read wedges, store, sandbox and model of this deployment',
      description:
        'What runs here, for `./svc doctor` and the settings of the console: version, wedges and their problems, sandbox, default model. No secret is in it.',
      responses: { 200: MetaView },
      handle: async ({ ctx }) => toMetaView(ctx, await driver),
    }),
  })
