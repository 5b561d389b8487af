import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { downloadNode } from '../../scripts/fetch-node.mjs'

/** Downloads Node for one test and returns its path, or null if the registry cannot be reached. */
export function fetchNode(version: string): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-node-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o755)
  return downloadNode(version, folder)
}
