import type { PortalBrand } from './portal-api.ts'

/** The path of the portal with the project, so that a bookmark shows the right brand after the session has ended. */
export function portalPath(brand: PortalBrand | null, search: Record<string, string> = {}): string {
  const params = new URLSearchParams({ ...(brand?.address && { project: brand.address }), ...search })
  return `/portal${params.size > 0 ? `?${params}` : ''}`
}

/** The conversation that the page opens, such as from a link in a mail; empty without one. */
export function threadInUrl(): { thread?: string } {
  const thread = new URLSearchParams(location.search).get('thread')
  return thread ? { thread } : {}
}
