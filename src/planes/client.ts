import { portalRoutes, portalSessionRoutes } from '../portal/routes.ts'
import type { ClientScope } from '../ctx/scope.ts'
import type { Route } from '../http/route.ts'

/** What the founder's customer can do, with a session from a magic link. */
export const clientPlaneRoutes: Route<ClientScope>[] = Object.values(portalRoutes)

/** The exchange of the link is how a session begins, so it needs none. */
export const openPortalRoutes: Route<null>[] = Object.values(portalSessionRoutes)
