import { authRoutes } from '../accounts/auth-routes.ts'
import { publicBrandRoutes } from '../brand/routes.ts'
import { hookRoutes } from '../channels/hook-routes.ts'
import { oauthCallbackRoutes } from '../connections/auth/oauth-routes.ts'
import { decideRoutes } from '../notifications/decide-routes.ts'
import { defineRead, HttpResponse, nameRoutes, openRoute, type Route } from '../http/route.ts'
import { notifierHookRoutes } from '../notifications/hook-routes.ts'
import { mcpOauthRoutes } from '../mcp/oauth/routes.ts'
import { portalSignInRoutes } from '../portal/access-routes.ts'
import type { SandboxDriver } from '../sandbox/driver.ts'
import { StoreUnavailable } from '../store/errors.ts'
import { widgetRoutes } from '../widget/routes.ts'
import { HealthView, MetaView, toMetaView, UnhealthyView } from './view.ts'

const healthRoutes = (isDraining: () => boolean) =>
  nameRoutes({
    getHealth: openRoute('GET', '/health', {
      summary: 'Check the health of the service',
      responses: { 200: HealthView, 503: UnhealthyView },
      async handle({ ctx }) {
        if (isDraining()) return unavailable('the service is stopping')
        try {
          await ctx.store.ping()
          return { status: 'ok' }
        } catch (error) {
          return unavailable(error instanceof StoreUnavailable ? error.message : 'the store cannot be reached')
        }
      },
    }),
  })

const unavailable = (error: string) => new HttpResponse(503, { status: 'unavailable', error })

/** The routes without a credential, by section of the reference. */
export const openPlaneRoutes = (isDraining: () => boolean): Record<string, Route<null>[]> => ({
  Health: Object.values(healthRoutes(isDraining)),
  'Sign-in': Object.values(authRoutes),
  Connections: Object.values(oauthCallbackRoutes),
  Channels: [...Object.values(hookRoutes), ...Object.values(widgetRoutes)],
  Notifications: [...Object.values(decideRoutes), ...Object.values(notifierHookRoutes)],
  MCP: Object.values(mcpOauthRoutes),
  Portal: [...Object.values(publicBrandRoutes), ...Object.values(portalSignInRoutes)],
})

export const metaRoutes = (driver: Promise<Pick<SandboxDriver, 'kind' | 'isolation'>>) =>
  nameRoutes({
    getMeta: defineRead('/v1/meta', {
      summary: 'Read wedges, store, sandbox and model of this deployment',
      responses: { 200: MetaView },
      handle: async ({ ctx }) => toMetaView(ctx, await driver),
    }),
  })
