// Downloads a program of Node from the npm registry, for tests and benchmarks on another version than the machine's.
import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

/**
 * Versions that the npm registry has for Linux on both kinds of processors, with the expected hashes of the packages.
 * @type {Record<string, Record<string, string>>}
 */
const NODE_HASHES = {
  '22.23.3': {
    x64: 'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
    arm64: 'sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
  },
  '24.21.0': {
    x64: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
    arm64: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  },
  '26.10.0': {
    x64: 'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
    arm64: 'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
  },
}

export const NODE_VERSIONS = Object.keys(NODE_HASHES)

/** Of the same major version as the image. */
export const NODE_24 = '24.21.0'

/**
 * Returns the path of the program in the folder, or null if the registry has no such package or cannot be reached.
 * @param {string} version
 * @param {string} folder
 * @returns {Promise<string | null>}
 */
export async function downloadNode(version, folder) {
  const hash = process.platform === 'linux' ? NODE_HASHES[version]?.[process.arch] : undefined
  if (hash === undefined) return null
  const name = `node-linux-${process.arch}@${version}`
  const args = [
    'pack',
    name,
    '--json',
    '--prefer-offline',
    '--fetch-retries=1',
    '--fetch-retry-mintimeout=1000',
    '--fetch-timeout=20000',
  ]
  const response = await promisify(execFile)('npm', args, { cwd: folder }).catch(() => null)
  if (response === null) return null
  const [{ filename, integrity }] = JSON.parse(response.stdout)
  if (integrity !== hash) throw new Error(`the package ${name} has the hash ${integrity} instead of ${hash}`)
  execFileSync('tar', ['-xzf', join(folder, filename), '-C', folder, '--strip-components=2', 'package/bin/node'])
  return join(folder, 'node')
}

/**
 * Node 24 for this machine: its own if it runs that version, otherwise a downloaded one. Null if there is none.
 * @param {string} folder
 * @returns {Promise<string | null>}
 */
export async function findNode24(folder) {
  return process.versions.node.startsWith('24.') ? process.execPath : downloadNode(NODE_24, folder)
}
