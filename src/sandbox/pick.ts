import { realpathSync } from 'node:fs'
import { messageOf } from '../base/message-of.ts'
import { bwrapDriver } from './bwrap.ts'
import type { Driver, Log } from './driver.ts'
import { probe } from './probe.ts'
import { processDriver } from './process.ts'

/**
 * The driver of this machine, tried before it is trusted. `hide` names folders that no cell may see even where they
 * lie below /usr, such as the data folder of a service installed there; they must exist.
 */
export async function pickDriver(choice: 'auto' | 'bwrap' | 'process', log: Log, hide: string[] = []): Promise<Driver> {
  // Outside of the try: a folder that cannot be hidden is a mistake to tell, not a reason to run without a sandbox.
  const hidden = hide.map((path) => realpathSync(path))
  if (choice === 'process') return announced(processDriver(log), log)
  try {
    const driver = bwrapDriver(hidden)
    driver.isolation.warnings.push(...(await probe(driver)))
    return announced(driver, log)
  } catch (cause) {
    const reason = messageOf(cause)
    if (choice === 'bwrap') throw new Error(`the sandbox cannot be used: ${reason}. ${remedy()}`, { cause })
    log(`WARNING: agents run WITHOUT a sandbox: ${reason}. ${remedy()}`, 'warn')
    return announced(processDriver(log), log)
  }
}

function remedy(): string {
  if (process.platform !== 'linux') return 'For agents that you do not trust, run the service on Linux'
  return (
    'Install bubblewrap 0.8 or newer and prlimit (apt-get install bubblewrap util-linux) and allow user namespaces ' +
    '(sysctl user.max_user_namespaces above 0; on Ubuntu 24.04 and newer an AppArmor profile for bwrap; in Docker ' +
    '--security-opt seccomp=unconfined --security-opt systempaths=unconfined)'
  )
}

function announced(driver: Driver, log: Log): Driver {
  log(`sandbox: ${driver.kind}`, 'info')
  for (const warning of driver.isolation.warnings) log(`WARNING: sandbox: ${warning}`, 'warn')
  return driver
}
