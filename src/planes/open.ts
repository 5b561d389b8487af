import { z } from 'zod'
import { authRoutes } from '../accounts/auth-routes.ts'
import { HttpResponse, nameRoutes, openRoute, type Route } from '../http/route.ts'

/** What needs no credential. */
const healthRoutes = (isDraining: () => boolean) =>
  nameRoutes({
    getHealth: openRoute('GET', '/health', {
      summary: 'Check the health of the service',
      responses: {
        200: z.object({ status: z.literal('ok') }),
        503: z.object({ status: z.string(), error: z.string() }),
      },
      async handle({ ctx }) {
        if (isDraining()) return unavailable('the service is stopping')
        try {
          await ctx.store.ping()
          return { status: 'ok' }
        } catch {
          return unavailable('the store cannot be reached')
        }
      },
    }),
  })

const unavailable = (error: string) => new HttpResponse(503, { status: 'unavailable', error })

export const openPlaneRoutes = (isDraining: () => boolean): Record<string, Route<null>[]> => ({
  Health: Object.values(healthRoutes(isDraining)),
  'Sign-in': Object.values(authRoutes),
})
