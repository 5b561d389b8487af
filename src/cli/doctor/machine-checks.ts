import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, fsyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorMessage } from '../../base/error-message.ts'
import { type CheckResult, okCheck, warnCheck, failCheck } from './check-result.ts'

export function checkNodeVersion(): CheckResult {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const fix = 'install Node 24 LTS from https://nodejs.org'
  if (major < 20 || (major === 20 && minor < 19))
    return failCheck('node', `${process.version} is too old, 20.19 is needed`, fix)
  if (major < 22) return warnCheck('node', `${process.version} works, but gets no security fixes any more`, fix)
  return okCheck('node', process.version)
}

const BWRAP_TIMEOUT_MS = 15_000
const INSTALL_BWRAP = 'apt install bubblewrap, dnf install bubblewrap or pacman -S bubblewrap'

/** Tries what a cell needs: namespaces of its own with no network. */
export function checkBubblewrap(): CheckResult {
  const without = 'tasks run without isolation from the network and the shell tool is off'
  if (process.platform !== 'linux')
    return warnCheck('bubblewrap', `not for ${process.platform}: ${without}`, 'run the service on Linux')
  const { error, status, stderr } = tryBwrap()
  if (error) return warnCheck('bubblewrap', `cannot be started: ${without}`, INSTALL_BWRAP)
  if (status === 0) return okCheck('bubblewrap', 'works')
  return warnCheck('bubblewrap', `does not work (${stderr.trim() || status}): ${without}`, 'see user namespaces below')
}

function tryBwrap() {
  const words = ['--unshare-all', '--die-with-parent', '--ro-bind', '/', '/', '--proc', '/proc', '/bin/true']
  return spawnSync('bwrap', words, { encoding: 'utf8', timeout: BWRAP_TIMEOUT_MS })
}

/** Each setting that may forbid them, the value that does, and the one that allows. */
const KERNEL_SETTINGS = [
  ['user/max_user_namespaces', '0', '15000'],
  ['kernel/unprivileged_userns_clone', '0', '1'],
  ['kernel/apparmor_restrict_unprivileged_userns', '1', '0'],
] as const

export function checkUserNamespaces(): CheckResult {
  if (process.platform !== 'linux') return okCheck('user namespaces', `not needed on ${process.platform}`)
  const forbidding = KERNEL_SETTINGS.find(([name, bad]) => readKernelSetting(name) === bad)
  if (!forbidding) return okCheck('user namespaces', 'allowed')
  const [name, value, good] = forbidding
  const dotted = name.replace('/', '.')
  if (tryBwrap().status === 0)
    return okCheck('user namespaces', `restricted by ${dotted}=${value}, but bubblewrap may use them`)
  return warnCheck('user namespaces', `forbidden by ${dotted}=${value}`, `sudo sysctl -w ${dotted}=${good}`)
}

function readKernelSetting(name: string): string | null {
  const path = `/proc/sys/${name}`
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null
}

const FLUSH_COUNT = 16
const SLOW_FLUSH_MS = 20

/** Every change waits for one flush of the disk, so its time is the pace of the service. */
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
      'name a folder that can, with SVC_DATA_DIR',
    )
  }
}

function nearestExistingFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExistingFolder(dirname(path))
}

function medianFlushMs(folder: string): number {
  const trial = mkdtempSync(join(folder, '.svc-doctor-'))
  try {
    const file = openSync(join(trial, 'flush'), 'w')
    const page = Buffer.alloc(4096, 1)
    const times = Array.from({ length: FLUSH_COUNT }, () => {
      const began = performance.now()
      writeSync(file, page)
      fsyncSync(file)
      return performance.now() - began
    })
    closeSync(file)
    return times.toSorted((a, b) => a - b)[FLUSH_COUNT / 2] ?? 0
  } finally {
    rmSync(trial, { recursive: true, force: true })
  }
}
