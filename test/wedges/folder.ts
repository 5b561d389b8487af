import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

export type Files = Record<string, string | object>

/** An empty directory that lives as long as the test. */
export async function emptyFolder(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'svc-wedges-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  return root
}

/** Writes files below a wedge's folder; objects are written as JSON. */
export async function place(root: string, slug: string, files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, slug, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
  }
}

export const manifest = (wedge: string, more: object = {}) => ({ wedge, task_types: { triage: {} }, ...more })
