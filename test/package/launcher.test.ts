import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../programs/cli/run-svc.ts'
import { ROOT } from '../docs/pages.ts'

/** On macOS `sh` is an old bash in POSIX mode. */
const SHELLS: [string, ...string[]][] = [['sh'], ['dash'], ['bash', '--posix'], ['busybox', 'sh']]

test.each(SHELLS.filter(([shell]) => findProgram(shell) !== null))(
  'svc starts with only %s, node, and old versions of find and readlink',
  (program, ...options) => {
    const dir = temporaryFolder()
    const tools = createMinimalPath(join(dir, 'tools'))
    createBuiltClone(join(dir, 'clone'))
    mkdirSync(join(dir, 'elsewhere'))
    symlinkSync('../clone/svc', join(dir, 'elsewhere/first'))
    symlinkSync('first', join(dir, 'elsewhere/second'))
    const path = findProgram(program) ?? program
    for (const name of ['../clone/svc', 'first', 'second', join(dir, 'elsewhere/second')]) {
      const ended = spawnSync(path, [...options, name, 'tasks', 'an argument'], {
        cwd: join(dir, 'elsewhere'),
        env: { PATH: tools },
        encoding: 'utf8',
      })
      // A name without a slash would be searched on the PATH.
      const typedName = name.includes('/') ? name : `./${name}`
      expect(ended, name).toMatchObject({
        status: 0,
        stderr: '',
        stdout: `${JSON.stringify(['tasks', 'an argument', typedName])}\n`,
      })
    }
  },
)

test('SIGTERM to `npm start` stops the service, not only npm', async () => {
  const dir = temporaryFolder()
  createBuiltClone(dir)
  cpSync(join(ROOT, 'package.json'), join(dir, 'package.json'))
  const service = "process.on('SIGTERM', () => { console.log('drained'); process.exit() })"
  writeFileSync(join(dir, 'dist/svc.mjs'), `${service}\nconsole.log('up'); setTimeout(() => {}, 30_000)`)
  const npm = spawn('npm', ['start'], { cwd: dir, stdio: ['ignore', 'pipe', 'ignore'] })
  let output = ''
  npm.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    if (text.includes('up\n')) npm.kill('SIGTERM')
  })
  await once(npm, 'close')
  expect(output).toContain('drained')
})

test('the compile cache is separate for each processor architecture', async () => {
  const dir = temporaryFolder()
  cpSync(join(ROOT, 'scripts/launcher.mjs'), join(dir, 'svc.mjs'))
  writeFileSync(join(dir, 'service.cjs'), 'setTimeout(() => {}, 3000)')
  const other = process.arch === 'arm64' ? 'x64' : 'arm64'
  writeFileSync(join(dir, 'other.cjs'), `Object.defineProperty(process, 'arch', { value: '${other}' })`)
  const start = (...flags: string[]) => spawn(process.execPath, [...flags, join(dir, 'svc.mjs'), 'serve'])
  await Promise.all([start(), start('--require', join(dir, 'other.cjs'))].map((child) => once(child, 'exit')))
  expect(readdirSync(dir).filter((name) => name.startsWith('.compiled-'))).toHaveLength(2)
})

test('the compile cache is used by the next start, and this version of Node knows the flag for its compiler', async () => {
  const dir = temporaryFolder()
  cpSync(join(ROOT, 'scripts/launcher.mjs'), join(dir, 'svc.mjs'))
  writeFileSync(join(dir, 'service.cjs'), 'setTimeout(() => {}, 2500)')
  const start = async () => {
    const child = spawn(process.execPath, [join(dir, 'svc.mjs'), 'serve'])
    const [stderr] = await Promise.all([text(child.stderr), once(child, 'exit')])
    return stderr
  }
  const listCaches = () =>
    readdirSync(dir)
      .filter((name) => name.startsWith('.compiled-'))
      .map((name) => ({ name, written: statSync(join(dir, name)).mtimeMs }))
  expect(await start()).toBe('')
  const caches = listCaches()
  expect(caches).toHaveLength(1)
  expect(await start()).toBe('')
  expect(listCaches()).toEqual(caches)
})

/** Creates a folder for the PATH with few programs. The readlink of macOS before 12.3 has only the option -n. */
function createMinimalPath(folder: string): string {
  mkdirSync(folder)
  symlinkSync(process.execPath, join(folder, 'node'))
  symlinkSync(findProgram('find') ?? '', join(folder, 'find'))
  const readlink = `#!/bin/sh\ncase $1 in -*) exit 1 ;; esac\nexec ${findProgram('readlink')} "$1"\n`
  writeFileSync(join(folder, 'readlink'), readlink)
  chmodSync(join(folder, 'readlink'), 0o755)
  return folder
}

/** Creates a clone that needs no installation and no build, and whose program prints its arguments. */
function createBuiltClone(folder: string): void {
  for (const name of ['src', 'client-text', 'console', 'clients/typescript/src', 'scripts', 'node_modules', 'dist'])
    mkdirSync(join(folder, name), { recursive: true })
  cpSync(join(ROOT, 'svc'), join(folder, 'svc'))
  for (const name of ['package-lock.json', 'node_modules/.package-lock.json', 'dist/.built'])
    writeFileSync(join(folder, name), '')
  writeFileSync(
    join(folder, 'dist/svc.mjs'),
    'console.log(JSON.stringify([...process.argv.slice(2), process.env.SVC_CALLED_AS]))',
  )
}

function findProgram(program: string): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path)) ?? null
}
