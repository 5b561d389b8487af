/** What one cell has on the host beside its processes, such as folders and a cgroup. */
export interface CellResources {
  /** `release` is called once: after the exit of the cell, or at once if it cannot be started. */
  keep(release: () => void): void
  releaseAll(): void
}

/** Starts a cell. If that fails, nothing of it stays on the host. */
export function startWithResources<T>(start: (resources: CellResources) => T): T {
  const releases: (() => void)[] = []
  const resources: CellResources = {
    keep: (release) => void releases.push(release),
    releaseAll() {
      for (const release of releases.splice(0)) release()
    },
  }
  try {
    return start(resources)
  } catch (error) {
    resources.releaseAll()
    throw error
  }
}

const cleanUps: (() => void)[] = []

/** Makes the call when this process exits. Node warns of a leak above ten listeners, so all share one. */
export function cleanUpAtExit(call: () => void): void {
  if (cleanUps.length === 0) process.once('exit', () => cleanUps.forEach((cleanUp) => cleanUp()))
  cleanUps.push(call)
}
