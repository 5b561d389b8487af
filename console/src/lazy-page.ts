import { lazyRouteComponent } from '@tanstack/react-router'
import { loadWhenReachable } from './lazy-part.ts'

/** A page whose script is loaded when it opens. */
export function lazyPage<T extends Record<string, unknown>, K extends keyof T>(load: () => Promise<T>, name: K) {
  return lazyRouteComponent(() => loadWhenReachable(load), name)
}
