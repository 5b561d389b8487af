import { MutationCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { type AnyRoute, RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { returnPath } from './search-params.ts'
import * as credential from './api/credential.ts'
import { errorMessage } from './api/http.ts'
import { ApiError } from './api/request.ts'
import { sessionQuery } from './api/queries.ts'
// oxlint-disable-next-line import/no-unassigned-import
import './app.css'
import { shell } from './root-routes.ts'
import { reloadOnPastedLink } from './reload-on-link.ts'
import { createConsoleRouter } from './router.tsx'
import { stopLiveUpdates } from './shell/live-status.tsx'
import { setSessionEnd } from './shell/session-end.ts'
import { capitalize } from './ui/humanize.ts'
import { showToast } from './ui/toast.tsx'

// Before the router reads the location.
credential.signInWithLink()
reloadOnPastedLink()

const RETRIES = 2
/** A retry cannot help. 501 means that the feature is not configured. */
const isRefusal = (status: number) => status < 500 || status === 501

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      refetchOnWindowFocus: false,
      retry: (failures, error) => failures < RETRIES && !(error instanceof ApiError && isRefusal(error.status)),
    },
  },
  mutationCache: new MutationCache({ onError: onMutationError }),
})
const router = createConsoleRouter(queries)

function onMutationError(error: unknown): void {
  // The dialog of the ended session says more.
  if (error instanceof ApiError && error.status === 401) return
  showToast(capitalize(errorMessage(error)), true)
  // The console offers only what the role allows, so a 403 means that the role was changed in the meantime.
  const forbidden = error instanceof ApiError && error.status === 403
  if (forbidden) void queries.invalidateQueries({ queryKey: sessionQuery.queryKey })
}

// Loads the script of the page and the session at the same time, before the first render.
if (credential.getToken() !== null) {
  const routes: Record<string, AnyRoute> = router.routesById
  const matches: { routeId: string }[] = router.matchRoutes(router.latestLocation)
  // The decision page needs no session, and one that has ended must not lead away from it.
  if (matches.some(({ routeId }) => routeId === shell.id)) void queries.prefetchQuery(sessionQuery)
  for (const { routeId } of matches) {
    const route = routes[routeId]
    if (route) void router.loadRouteChunk(route)
  }
}

window.addEventListener('svc:signed-out', () => {
  setSessionEnd({ staySignedIn: credential.isTokenKept() })
  credential.clearToken()
  stopLiveUpdates()
  // An open page stays as it is; the shell asks to sign in again over it.
  if (queries.getQueryData(sessionQuery.queryKey)) return
  queries.clear()
  const { pathname, href } = router.latestLocation
  // A wrong credential on the sign-in page must not replace its return path.
  if (pathname !== '/sign-in') void router.navigate({ to: '/sign-in', search: returnPath(href, location.origin) })
})

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  )
}
