import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeFiles } from '../app.ts'
import { ROOT } from '../docs/pages.ts'

/** Users have the last compiler in JavaScript, or the first one in Go. */
type Compiler = 'typescript' | 'typescript-native'

const CLIENT = join(ROOT, 'clients/typescript')

const compilerOf = (name: Compiler) => join(ROOT, 'node_modules', name, 'bin/tsc')

/** A new project whose only dependency is the TypeScript client, as `npm pack` makes it. */
export interface ClientProject {
  folder: string
  packedFiles: string[]
}

export function createClientProject(): ClientProject {
  const folder = mkdtempSync(join(tmpdir(), 'svc-client-'))
  // Sandboxed programs of another user must be able to read it.
  chmodSync(folder, 0o755)
  const source = join(folder, 'source')
  // The same as the script `prepack`, but in a folder of its own, because tests run at the same time.
  execFileSync(process.execPath, [
    compilerOf('typescript-native'),
    '--project',
    CLIENT,
    '--outDir',
    join(source, 'dist'),
  ])
  for (const name of ['LICENSE', 'README.md', 'package.json']) copyFileSync(join(CLIENT, name), join(source, name))
  const [packed]: { filename: string; files: { path: string }[] }[] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
      cwd: source,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  )
  if (!packed) throw new Error('npm has packed nothing')
  const installed = join(folder, 'node_modules/agent-work-service-client')
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', join(folder, packed.filename), '-C', installed, '--strip-components=1'])
  for (const name of ['@types', 'undici-types'])
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  writeFiles(folder, { 'package.json': { type: 'module', private: true } })
  return { folder, packedFiles: packed.files.map(({ path }) => path) }
}

/** Compiles files of a project, and returns what the compiler reports. */
export function compile(
  folder: string,
  files: string[],
  options: string[] = [],
  compiler: Compiler = 'typescript-native',
): string {
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--target', 'es2022', ...options]
  try {
    execFileSync(process.execPath, [compilerOf(compiler), ...strict, ...files], { cwd: folder, encoding: 'utf8' })
    return ''
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}
