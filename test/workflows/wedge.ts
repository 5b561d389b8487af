import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import type { Json, JsonObject } from '../../src/base/json.ts'
import { Problem } from '../../src/base/problem.ts'
import { Manifest, type Wedge } from '../../src/base/wedge.ts'
import { loadConfig } from '../../src/config/config.ts'
import { systemWorld } from '../../src/ctx/system.ts'
import type { Clock } from '../../src/ctx/world.ts'
import type { Driver } from '../../src/sandbox/driver.ts'
import { readCode } from '../../src/wedges/code.ts'
import { WorkflowCells } from '../../src/workflows/cells.ts'
import { emptyFolder, place } from '../wedges/folder.ts'

/** The folder with the bundled program, for the tests of one file. */
export function bundledProgram(): { dir: string } {
  const program = { dir: '' }
  beforeAll(async () => {
    program.dir = mkdtempSync(join(tmpdir(), 'svc-program-'))
    chmodSync(program.dir, 0o755)
    await build({
      entryPoints: ['src/workflow-cell/main.ts'],
      bundle: true,
      minify: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20.19',
      outfile: join(program.dir, 'workflow-cell.cjs'),
      logLevel: 'error',
    })
  })
  afterAll(() => rmSync(program.dir, { recursive: true, force: true }))
  return program
}

export function cellsOf(driver: Driver, agentDir: string, more: { timeoutMs?: number; clock?: Clock } = {}) {
  const world = systemWorld('silent')
  const config = loadConfig({ SVC_WORKFLOW_TIMEOUT_MS: String(more.timeoutMs ?? 20_000) })
  const cells = new WorkflowCells({ config, world: { ...world, clock: more.clock ?? world.clock } }, driver, agentDir)
  onTestFinished(() => cells.close())
  return cells
}

type Schemas = { input_schema?: JsonObject; output_schema?: JsonObject }

/** A wedge whose workflows are these sources; the files with a slash in their name are not declared. */
export async function wedgeOf(files: Record<string, string>, schemas: Record<string, Schemas> = {}): Promise<Wedge> {
  const root = await emptyFolder()
  const paths = Object.entries(files).map(([name, source]) => [`workflows/${name}.mjs`, source])
  await place(root, 'desk', Object.fromEntries(paths))
  const names = Object.keys(files).filter((name) => !name.includes('/'))
  return wedgeIn(join(root, 'desk'), {
    wedge: 'desk',
    task_types: { triage: {} },
    workflows: names.map((name) => ({ name, ...schemas[name] })),
  })
}

export async function wedgeIn(dir: string, source: JsonObject): Promise<Wedge> {
  const manifest = Manifest.parse(source)
  const parts = { skills: [], knowledge: [], rehearsals: {}, code: await readCode(dir, manifest) }
  return { slug: manifest.wedge, title: manifest.wedge, dir, manifest, source, ...parts }
}

/** Status and sentence of the Problem that the call ends with. */
export async function problemOf(call: Promise<Json>): Promise<[number, string]> {
  try {
    const result = await call
    throw new Error(`expected a problem, got ${JSON.stringify(result)}`)
  } catch (error) {
    if (error instanceof Problem) return [error.status, error.message]
    throw error
  }
}
