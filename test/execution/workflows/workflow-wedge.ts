import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import type { Json, JsonObject } from '../../../src/platform/base/json.ts'
import { Problem } from '../../../src/platform/base/problem.ts'
import { WedgeManifest, type Wedge } from '../../../src/platform/contract/wedge/wedge-manifest.ts'
import { loadConfig } from '../../../src/platform/config/config.ts'
import { createSystemWorld } from '../../../src/platform/ctx/system-world.ts'
import type { Clock } from '../../../src/platform/ctx/world.ts'
import type { SandboxDriver } from '../../../src/execution/sandbox/driver.ts'
import { readWorkflowCode } from '../../../src/wedges/library/workflow-code.ts'
import { WorkflowRunner } from '../../../src/execution/workflows/workflow-runner.ts'
import { tempFolder, writeWedgeFiles } from '../../wedges/library/wedge-folder.ts'

/** Bundles the workflow program before the tests of a file, and removes it afterwards. */
export function bundledWorkflowProgram(): { dir: string } {
  const program = { dir: '' }
  beforeAll(async () => {
    program.dir = mkdtempSync(join(tmpdir(), 'svc-program-'))
    chmodSync(program.dir, 0o755)
    await build({
      entryPoints: ['src/programs/workflow-cell/main.ts'],
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

export function openWorkflowRunner(
  driver: SandboxDriver,
  agentDir: string,
  more: { timeoutMs?: number; clock?: Clock } = {},
) {
  const world = createSystemWorld('silent')
  const config = loadConfig({ SVC_WORKFLOW_TIMEOUT_MS: String(more.timeoutMs ?? 20_000) })
  const runner = new WorkflowRunner({ config, world: { ...world, clock: more.clock ?? world.clock } }, driver, agentDir)
  onTestFinished(() => runner.close())
  return runner
}

type Schemas = { input_schema?: JsonObject; output_schema?: JsonObject }

/** A wedge with these workflow sources; files with a slash in their name are not declared as workflows. */
export async function wedgeWithWorkflows(
  files: Record<string, string>,
  schemas: Record<string, Schemas> = {},
): Promise<Wedge> {
  const root = await tempFolder()
  const paths = Object.entries(files).map(([name, source]) => [`workflows/${name}.mjs`, source])
  await writeWedgeFiles(root, 'desk', Object.fromEntries(paths))
  const names = Object.keys(files).filter((name) => !name.includes('/'))
  return readWedgeFrom(join(root, 'desk'), {
    wedge: 'desk',
    task_types: { triage: {} },
    workflows: names.map((name) => ({ name, ...schemas[name] })),
  })
}

export async function readWedgeFrom(dir: string, source: JsonObject): Promise<Wedge> {
  const manifest = WedgeManifest.parse(source)
  const parts = {
    skills: [],
    skillFolders: [],
    knowledge: [],
    rehearsals: {},
    examples: {},
    agents: {},
    code: await readWorkflowCode(dir, manifest),
  }
  return { slug: manifest.wedge, title: manifest.wedge, dir, manifest, source, ...parts }
}

/** The status and message of the Problem that the call throws. */
export async function problemFrom(call: Promise<Json>): Promise<[number, string]> {
  try {
    const result = await call
    throw new Error(`expected a problem, got ${JSON.stringify(result)}`)
  } catch (error) {
    if (error instanceof Problem) return [error.status, error.message]
    throw error
  }
}
