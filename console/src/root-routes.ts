import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, Outlet, redirect } from '@tanstack/react-router'
import * as credential from './api/credential.ts'
import { sessionQuery, signupQuery } from './api/queries.ts'
import { lazyPage } from './lazy-page.ts'
import { enumParam, returnPath, textParam } from './search-params.ts'
import { ErrorDocument } from './shell/error-page.tsx'
import { startLiveUpdates } from './shell/live-status.tsx'
import { Shell } from './shell/shell.tsx'

/** Where all pages begin. */
export const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  errorComponent: ErrorDocument,
})

export const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>): { to?: string; method?: 'signup' } => ({
    ...returnPath(search['to'], location.origin),
    ...enumParam('method', ['signup'] as const, search),
  }),
  beforeLoad: async ({ context }) => ({ signup: await context.queries.fetchQuery(signupQuery) }),
  component: lazyPage(() => import('./pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
})

/** The decision page of a mail link. It needs no session. */
export const decide = createRoute({
  getParentRoute: () => root,
  path: '/decide',
  component: lazyPage(() => import('./pages/decide/decide-page.tsx'), 'DecidePage'),
})

/** The page on which a member gives an app access to the MCP endpoint. */
export const connectApp = createRoute({
  getParentRoute: () => root,
  path: '/connect-app',
  validateSearch: (search: Record<string, unknown>): { request?: string } => textParam('request', search),
  beforeLoad: async ({ context, location: { href } }) => {
    if (credential.getToken() === null) throw redirect({ to: '/sign-in', search: returnPath(href, location.origin) })
    await context.queries.ensureQueryData(sessionQuery)
  },
  component: lazyPage(() => import('./pages/connect-app/connect-app-page.tsx'), 'ConnectAppPage'),
})

/** The frame of all pages that need a session. */
export const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  errorComponent: ErrorDocument,
  // Loading the session selects the project, which all other requests need.
  beforeLoad: async ({ context, location: { href } }) => {
    if (credential.getToken() === null) throw redirect({ to: '/sign-in', search: returnPath(href, location.origin) })
    await Promise.all([context.queries.ensureQueryData(sessionQuery), startLiveUpdates(context.queries)])
    // The session may have selected another project.
    await startLiveUpdates(context.queries)
  },
})
