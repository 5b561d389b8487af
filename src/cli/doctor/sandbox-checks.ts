import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { errorMessage } from '../../base/error-message.ts'
import type { ServerCommands } from '../shell/command.ts'
import { type CheckResult, failCheck, okCheck, warnCheck } from './check-result.ts'

const CHOOSE_ANOTHER = 'correct this, or choose another driver with SVC_SANDBOX (docs/security.md)'

/** Checks the driver that SVC_SANDBOX chooses. */
export async function checkSandbox(choice: string, server: ServerCommands): Promise<CheckResult[]> {
  switch (choice) {
    case 'auto':
      return [checkBubblewrap(), checkUserNamespaces()]
    case 'bwrap':
      return [await checkDriver(choice, server), checkUserNamespaces()]
    case 'runsc':
    case 'podman':
      return [await checkDriver(choice, server)]
    case 'process':
      return [warnCheck('sandbox', 'process is not a security boundary', 'unset SVC_SANDBOX if this is not a test')]
    default:
      return [failCheck('sandbox', `there is no driver ${choice}`, CHOOSE_ANOTHER)]
  }
}

/** Starts cells as the service does. Only `auto` may start without a sandbox. */
async function checkDriver(kind: 'bwrap' | 'runsc' | 'podman', server: ServerCommands): Promise<CheckResult> {
  try {
    const warnings = await server.trySandbox(kind)
    return warnings.length === 0
      ? okCheck('sandbox', `${kind} works`)
      : warnCheck('sandbox', `${kind} works, but ${warnings.join('; ')}`, CHOOSE_ANOTHER)
  } catch (error) {
    return failCheck('sandbox', `${kind}: ${errorMessage(error)}`, CHOOSE_ANOTHER)
  }
}

const BWRAP_TIMEOUT_MS = 15_000
const INSTALL_BWRAP = 'apt install bubblewrap, dnf install bubblewrap or pacman -S bubblewrap'

/** Starts a process with its own namespaces and no network, as a cell does. */
function checkBubblewrap(): CheckResult {
  const consequence = 'tasks are not isolated from the network, and the shell tool is off'
  if (process.platform !== 'linux')
    return warnCheck('bubblewrap', `not available on ${process.platform}: ${consequence}`, 'run the service on Linux')
  const { error, status, stderr } = tryBwrap()
  if (error) return warnCheck('bubblewrap', `cannot be started: ${consequence}`, INSTALL_BWRAP)
  if (status === 0) return okCheck('bubblewrap', 'works')
  return warnCheck(
    'bubblewrap',
    `does not work (${stderr.trim() || status}): ${consequence}`,
    'see user namespaces below',
  )
}

function tryBwrap() {
  const args = ['--unshare-all', '--die-with-parent', '--ro-bind', '/', '/', '--proc', '/proc', '/bin/true']
  return spawnSync('bwrap', args, { encoding: 'utf8', timeout: BWRAP_TIMEOUT_MS })
}

/** Kernel settings that can forbid user namespaces: name, forbidding value, allowing value. */
const KERNEL_SETTINGS = [
  ['user/max_user_namespaces', '0', '15000'],
  ['kernel/unprivileged_userns_clone', '0', '1'],
  ['kernel/apparmor_restrict_unprivileged_userns', '1', '0'],
] as const

function checkUserNamespaces(): CheckResult {
  if (process.platform !== 'linux') return okCheck('user namespaces', `not needed on ${process.platform}`)
  const setting = KERNEL_SETTINGS.find(([name, forbidding]) => readKernelSetting(name) === forbidding)
  if (!setting) return okCheck('user namespaces', 'allowed')
  const [name, value, allowing] = setting
  const dotted = name.replace('/', '.')
  if (tryBwrap().status === 0)
    return okCheck('user namespaces', `restricted by ${dotted}=${value}, but bubblewrap can use them`)
  return warnCheck('user namespaces', `forbidden by ${dotted}=${value}`, `sudo sysctl -w ${dotted}=${allowing}`)
}

function readKernelSetting(name: string): string | null {
  const path = `/proc/sys/${name}`
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null
}
