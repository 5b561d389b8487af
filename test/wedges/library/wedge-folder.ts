import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

export type WedgeFiles = Record<string, string | object>

/** An empty folder that is deleted after the test. */
export async function tempFolder(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'svc-wedges-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  return root
}

/** Writes files into a wedge folder; objects are written as JSON. */
export async function writeWedgeFiles(root: string, slug: string, files: WedgeFiles): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, slug, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
  }
}

export const minimalManifest = (wedge: string, more: object = {}) => ({ wedge, task_types: { triage: {} }, ...more })
