import { MutationCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { type AnyRoute, RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { returnPath } from './search-params.ts'
import * as credential from './api/credential.ts'
import { ApiError, errorMessage } from './api/http.ts'
import { sessionQuery } from './api/queries.ts'
// oxlint-disable-next-line import/no-unassigned-import
import './app.css'
import { createConsoleRouter } from './router.tsx'
import { showToast } from './ui/toast.tsx'

const RETRIES = 2
/** 501: what is asked for is not set up. */
const isRefusal = (status: number) => status < 500 || status === 501

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      refetchOnWindowFocus: false,
      // A refusal stays one; only what may pass is tried again.
      retry: (failures, error) => failures < RETRIES && !(error instanceof ApiError && isRefusal(error.status)),
    },
  },
  mutationCache: new MutationCache({ onError: refused }),
})
const router = createConsoleRouter(queries)

function refused(error: unknown): void {
  showToast(errorMessage(error), true)
  // What is offered is allowed; if not, somebody changed the role meanwhile.
  const forbidden = error instanceof ApiError && error.status === 403
  if (forbidden) void queries.invalidateQueries({ queryKey: sessionQuery.queryKey })
}

// The page's own file comes while it is asked who is signed in, and both before anything is drawn.
if (credential.getToken() !== null) {
  void queries.prefetchQuery(sessionQuery)
  const routes: Record<string, AnyRoute> = router.routesById
  const matches: { routeId: string }[] = router.matchRoutes(router.latestLocation)
  for (const { routeId } of matches) {
    const route = routes[routeId]
    if (route) void router.loadRouteChunk(route)
  }
}

window.addEventListener('svc:signed-out', () => {
  credential.clearToken()
  queries.clear()
  const { pathname, href } = router.latestLocation
  // A credential may be refused at the sign-in itself, which knows already where to go on.
  if (pathname !== '/sign-in') void router.navigate({ to: '/sign-in', search: returnPath(href, location.origin) })
})
// A page that was split off is gone when the service was updated meanwhile; the new one has it.
window.addEventListener('vite:preloadError', () => location.reload())

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
