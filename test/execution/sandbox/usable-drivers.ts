import { errorMessage } from '../../../src/platform/base/error-message.ts'
import type { SandboxDriver, SandboxKind } from '../../../src/execution/sandbox/driver.ts'
import { pickSandboxDriver } from '../../../src/execution/sandbox/pick-driver.ts'

export interface DriverOnTrial {
  kind: Exclude<SandboxKind, 'process'>
  driver: SandboxDriver | null
  /** Why the driver does not work on this machine; null if it does. */
  problem: string | null
}

/** Starts each driver with a sandbox. Those that do not work here are named with the reason, and never bwrap. */
export async function tryDrivers(): Promise<DriverOnTrial[]> {
  const trials = []
  for (const kind of ['bwrap', 'runsc'] as const) trials.push(await tryDriver(kind))
  return trials
}

export async function tryDriver(kind: DriverOnTrial['kind']): Promise<DriverOnTrial> {
  try {
    return { kind, driver: await pickSandboxDriver(kind, () => {}), problem: null }
  } catch (error) {
    if (kind === 'bwrap') throw error
    process.stderr.write(`the tests of the sandbox ${kind} are skipped: ${errorMessage(error)}\n`)
    return { kind, driver: null, problem: errorMessage(error) }
  }
}
