import { realpathSync } from 'node:fs'
import { errorMessage } from '../../platform/base/error-message.ts'
import type { SandboxDriver, SandboxKind, SandboxLog } from './driver.ts'
import { findGroupSupport, type GroupSupport } from './cgroup/grouped-start.ts'
import { probeDriver } from './probe-driver.ts'
import { processDriver } from './process/process-driver.ts'

type SandboxChoice = 'auto' | SandboxKind

/**
 * Returns the driver for this machine after probing it. `hide` names existing folders that no cell may see even if they
 * are below /usr, such as the data folder of a service that is installed there.
 */
export async function pickSandboxDriver(
  choice: SandboxChoice,
  log: SandboxLog,
  hide: string[] = [],
): Promise<SandboxDriver> {
  // Outside the try block: a folder that cannot be hidden is an error, not a reason to run without a sandbox.
  const hidden = hide.map((path) => realpathSync(path))
  const support = findGroupSupport()
  if (choice === 'process') return announceDriver(processDriver(log, support), log)
  const kind = choice === 'auto' ? 'bwrap' : choice
  try {
    const driver = await openDriver(kind, hidden, support)
    const { warnings, canLoopback } = await probeDriver(driver)
    driver.isolation.warnings.push(...warnings)
    driver.canLoopback = canLoopback
    return announceDriver(driver, log)
  } catch (cause) {
    const reason = errorMessage(cause)
    if (choice !== 'auto') throw new Error(`the sandbox does not work: ${reason}. ${sandboxRemedy(kind)}`, { cause })
    log(`WARNING: agents run WITHOUT a sandbox: ${reason}. ${sandboxRemedy(kind)}`, 'warn')
    return announceDriver(processDriver(log, support), log)
  }
}

/** Loads only the driver that is used. */
async function openDriver(
  kind: Exclude<SandboxKind, 'process'>,
  hidden: string[],
  support: GroupSupport,
): Promise<SandboxDriver> {
  return kind === 'bwrap'
    ? (await import('./bwrap/bwrap-driver.ts')).bwrapDriver(hidden, support)
    : (await import('./runsc/runsc-driver.ts')).runscDriver(hidden, support)
}

function sandboxRemedy(kind: keyof typeof REMEDIES): string {
  if (process.platform !== 'linux') return 'For agents that you do not trust, run the service on Linux'
  return REMEDIES[kind]
}

const REMEDIES = {
  bwrap:
    'Install bubblewrap 0.8 or newer and prlimit (apt-get install bubblewrap util-linux) and allow user namespaces ' +
    '(sysctl user.max_user_namespaces above 0; on Ubuntu 24.04 and newer an AppArmor profile for bwrap; in Docker ' +
    '--security-opt seccomp=unconfined --security-opt systempaths=unconfined)',
  runsc:
    'Install gVisor of December 2022 or newer and setpriv (apt-get install runsc util-linux), and allow user ' +
    'namespaces and ptrace',
}

function announceDriver(driver: SandboxDriver, log: SandboxLog): SandboxDriver {
  const { kind, reason } = driver.limiting
  log(`sandbox: ${driver.kind}`, 'info')
  log(`sandbox: limits by ${kind}${reason === null ? '' : ` (${reason})`}`, 'info')
  for (const warning of driver.isolation.warnings) log(`WARNING: sandbox: ${warning}`, 'warn')
  return driver
}
