import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, fsyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorMessage } from '../../base/error-message.ts'
import { type CheckResult, okCheck, warnCheck, failCheck } from './check-result.ts'

export function checkNodeVersion(): CheckResult {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const fix = 'install Node 24 LTS from https://nodejs.org'
  if (major < 20 || (major === 20 && minor < 19))
    return failCheck('node', `${process.version} is too old; 20.19 or newer is required`, fix)
  if (major < 22) return warnCheck('node', `${process.version} works, but no longer gets security fixes`, fix)
  return okCheck('node', process.version)
}

const BWRAP_TIMEOUT_MS = 15_000
const INSTALL_BWRAP = 'apt install bubblewrap, dnf install bubblewrap or pacman -S bubblewrap'

/** Starts a process with its own namespaces and no network, as a cell does. */
export function checkBubblewrap(): CheckResult {
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

export function checkUserNamespaces(): CheckResult {
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

const FLUSH_COUNT = 16
const SLOW_FLUSH_MS = 20

/** Every commit waits for one flush of the disk, so slow flushes slow down the whole service. */
export function checkDisk(dataDir: string): CheckResult {
  const folder = nearestExistingFolder(dataDir)
  try {
    const ms = medianFlushMs(folder)
    const detail = `${folder}: a flush takes ${ms.toFixed(1)} ms`
    return ms <= SLOW_FLUSH_MS
      ? okCheck('disk', detail)
      : warnCheck('disk', detail, 'put SVC_DATA_DIR on a local SSD, or use PostgreSQL')
  } catch (error) {
    return failCheck(
      'disk',
      `${folder} cannot be written: ${errorMessage(error)}`,
      'set SVC_DATA_DIR to a folder that can be written',
    )
  }
}

function nearestExistingFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExistingFolder(dirname(path))
}

function medianFlushMs(folder: string): number {
  const temporary = mkdtempSync(join(folder, '.svc-doctor-'))
  try {
    const file = openSync(join(temporary, 'flush'), 'w')
    const page = Buffer.alloc(4096, 1)
    const times = Array.from({ length: FLUSH_COUNT }, () => {
      const start = performance.now()
      writeSync(file, page)
      fsyncSync(file)
      return performance.now() - start
    })
    closeSync(file)
    return times.toSorted((a, b) => a - b)[FLUSH_COUNT / 2] ?? 0
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}
