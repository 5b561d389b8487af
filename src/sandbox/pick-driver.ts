import { realpathSync } from 'node:fs'
import { errorMessage } from '../base/error-message.ts'
import { bwrapDriver } from './bwrap-driver.ts'
import type { SandboxDriver, SandboxLog } from './driver.ts'
import { findGroupSupport } from './grouped-start.ts'
import { probeDriver } from './probe-driver.ts'
import { processDriver } from './process-driver.ts'

/**
 * Returns the driver for this machine after probing it. `hide` names existing folders that no cell may see even if they
 * are below /usr, such as the data folder of a service that is installed there.
 */
export async function pickSandboxDriver(
  choice: 'auto' | 'bwrap' | 'process',
  log: SandboxLog,
  hide: string[] = [],
): Promise<SandboxDriver> {
  // Outside the try block: a folder that cannot be hidden is an error, not a reason to run without a sandbox.
  const hidden = hide.map((path) => realpathSync(path))
  const support = findGroupSupport()
  if (choice === 'process') return announceDriver(processDriver(log, support), log)
  try {
    const driver = bwrapDriver(hidden, support)
    const { warnings, canLoopback } = await probeDriver(driver)
    driver.isolation.warnings.push(...warnings)
    driver.canLoopback = canLoopback
    return announceDriver(driver, log)
  } catch (cause) {
    const reason = errorMessage(cause)
    if (choice === 'bwrap') throw new Error(`the sandbox does not work: ${reason}. ${sandboxRemedy()}`, { cause })
    log(`WARNING: agents run WITHOUT a sandbox: ${reason}. ${sandboxRemedy()}`, 'warn')
    return announceDriver(processDriver(log, support), log)
  }
}

function sandboxRemedy(): string {
  if (process.platform !== 'linux') return 'For agents that you do not trust, run the service on Linux'
  return (
    'Install bubblewrap 0.8 or newer and prlimit (apt-get install bubblewrap util-linux) and allow user namespaces ' +
    '(sysctl user.max_user_namespaces above 0; on Ubuntu 24.04 and newer an AppArmor profile for bwrap; in Docker ' +
    '--security-opt seccomp=unconfined --security-opt systempaths=unconfined)'
  )
}

function announceDriver(driver: SandboxDriver, log: SandboxLog): SandboxDriver {
  log(`sandbox: ${driver.kind}`, 'info')
  for (const warning of driver.isolation.warnings) log(`WARNING: sandbox: ${warning}`, 'warn')
  return driver
}
