import { type ComponentType, lazy } from 'react'
import { isServiceReachable } from './api/service-reachable.ts'

const RETRY_MS = 2_000

/** A dialog or form whose script is loaded when it is shown. It needs a `Suspense` around it. */
export function lazyPart<P>(load: () => Promise<ComponentType<P>>) {
  return lazy(async () => ({ default: await loadWhenReachable(load) }))
}

/** While the service is away, the open page stays and the script is requested again. */
export async function loadWhenReachable<T>(load: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await load()
    } catch (error) {
      if (await isServiceReachable()) {
        // After an update of the service, the scripts of the old version are gone; a reload gets the new ones.
        location.reload()
        throw error
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }
}
