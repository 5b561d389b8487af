import { closeSync, existsSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorMessage } from '../../../platform/base/error-message.ts'
import { type CheckResult, okCheck, warnCheck, failCheck } from './check-result.ts'

export function checkNodeVersion(): CheckResult {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const fix = 'install Node 24 LTS from https://nodejs.org'
  if (major < 20 || (major === 20 && minor < 19))
    return failCheck('node', `${process.version} is too old; 20.19 or newer is required`, fix)
  if (major < 22) return warnCheck('node', `${process.version} works, but no longer gets security fixes`, fix)
  return okCheck('node', process.version)
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
